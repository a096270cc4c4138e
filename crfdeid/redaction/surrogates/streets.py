"""Names of streets, saints and the like in Spanish, as tables to choose from."""

from __future__ import annotations

from crfdeid.redaction.surrogates.letters import folded


def _names(text: str) -> tuple[str, ...]:
    return tuple(sorted(" ".join(name.split()) for name in text.split(",")))


STREETS_OF = _names(
    """
    de la Constitución, de la Libertad, de la Fuente, de la Iglesia, de la Estación, de la Alameda, de la Encina,
    de la Ermita, de la Rosaleda, de la Industria, de la Concordia, de la Noria, de la Independencia, de la Ribera,
    de las Flores, de las Acacias, de las Palmeras, de las Huertas, de los Olivos, de los Almendros, de los Naranjos,
    de los Cipreses, de los Tilos, del Prado, del Sol, del Molino, del Parque, del Pinar, del Jardín, del Rosal,
    del Mercado, del Puente, del Olivar, del Castillo, del Arroyo, del Comercio
    """
)
"""Names of streets that begin with a preposition."""

STREETS = _names(
    """
    Mayor, Real, Nueva, Ancha, Alta, Jardines, Estrella, Esperanza, Cervantes, Velázquez, Goya, Murillo, Zurbarán,
    Quevedo, Calderón de la Barca, Lope de Vega, Tirso de Molina, Garcilaso de la Vega, Rosalía de Castro,
    Emilia Pardo Bazán, Concepción Arenal, Antonio Machado, Juan Ramón Jiménez, Pío Baroja, Miguel Hernández,
    Gabriel Miró, Joaquín Sorolla, Pablo Picasso, Salvador Dalí, Isaac Peral, Severo Ochoa, Manuel de Falla,
    Isaac Albéniz, Enrique Granados, Magallanes, Elcano, Alfonso X el Sabio, Fernando el Católico, Jaime Balmes,
    Jovellanos, Espronceda, Gustavo Adolfo Bécquer, Clara Campoamor, María Moliner, Teresa de Jesús
    """
)
"""Names of streets that begin without a preposition."""

SAINTS = {
    "male": _names("Bernabé, Blas, Camilo, Ildefonso, Jorge, Lázaro, Lucas, Millán, Rafael, Roque, Telmo, Vicente"),
    "female": _names("Águeda, Ana, Bárbara, Catalina, Cecilia, Clara, Elena, Eulalia, Isabel, Lucía, Marta, Mónica"),
}
"""Saints that streets and hospitals are called after."""

SAINT_WORDS = {
    **dict.fromkeys(folded(["san", "santo", "sant", "sto"]), "male"),
    **dict.fromkeys(folded(["santa", "sta"]), "female"),
}
"""The words for a saint, folded, and their sex."""

HOUSES = _names(
    """
    La Merced, La Esperanza, La Luz, La Encina, La Concordia, La Magdalena, La Alameda, El Carmen, El Pilar, El Parque,
    Los Olivos, Los Rosales, Los Almendros, Las Flores, Las Acacias
    """
)
"""Names of hospitals and health centres with an article."""

LANDSCAPES = _names(
    """
    de la Ribera, de la Vega, de la Sierra, de la Costa, de la Campiña, de la Marina, del Valle, del Llano, del Río,
    del Norte, del Oeste, de Levante
    """
)
"""Names of hospitals after a part of the country."""
