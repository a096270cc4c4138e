"""Tables of places: provinces, countries, states and towns, and invented names of streets and hospitals."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from crfdeid.redaction.surrogates.choices import Chooser
from crfdeid.redaction.surrogates.words import (
    casefold_accents,
    casefold_words,
    language_pack,
    surrogate_table,
    with_case_of,
)
from features.languages import LANGUAGES

# Prefix of postcodes, area code | names | names of the capital | towns, each with other names after a slash. The first
# name is the usual one. A capital without names has those of its province.
_PROVINCES = """
01 945|Álava, Araba|Vitoria, Vitoria-Gasteiz, Gasteiz|Llodio, Amurrio, Laguardia, Salvatierra
02 967|Albacete||Almansa, Caudete, Hellín, La Roda, Villarrobledo, Tobarra
03 965|Alicante, Alacant||Alcoy, Benidorm, Dénia, Elche, Elda, Ibi, Jávea, Novelda, Orihuela, Torrevieja, Villena, \
Villajoyosa
04 950|Almería||Adra, Berja, El Ejido, Huércal-Overa, Níjar, Roquetas de Mar, Vera
05 920|Ávila||Arévalo, Arenas de San Pedro, Candeleda, El Tiemblo, Las Navas del Marqués
06 924|Badajoz||Almendralejo, Don Benito, Mérida, Montijo, Olivenza, Villanueva de la Serena, Zafra
07 971|Baleares, Islas Baleares, Illes Balears|Palma, Palma de Mallorca|Calvià, Ciutadella, Ibiza, Inca, Llucmajor, \
Manacor, Mahón
08 93|Barcelona||Badalona, Cornellà, Granollers, Igualada, \
L'Hospitalet de Llobregat/Hospitalet de Llobregat/Hospitalet, Manresa, Mataró, Sabadell, Santa Coloma de Gramenet, \
Sitges, Terrassa/Tarrasa, Vic, Vilafranca del Penedès
09 947|Burgos||Aranda de Duero, Briviesca, Lerma, Medina de Pomar, Miranda de Ebro
10 927|Cáceres||Coria, Miajadas, Navalmoral de la Mata, Plasencia, Trujillo
11 956|Cádiz||Algeciras, Arcos de la Frontera, Barbate, Chiclana de la Frontera, El Puerto de Santa María, \
Jerez de la Frontera, La Línea, Puerto Real, Rota, San Fernando, Sanlúcar de Barrameda
12 964|Castellón, Castelló|Castellón de la Plana, Castellón, Castelló|Benicarló, Onda, Segorbe, Vila-real, Vinaroz
13 926|Ciudad Real||Alcázar de San Juan, Almagro, Daimiel, Manzanares, Puertollano, Tomelloso, Valdepeñas
14 957|Córdoba||Baena, Cabra, Lucena, Montilla, Palma del Río, Pozoblanco, Priego de Córdoba
15 981|A Coruña, La Coruña, Coruña||Betanzos, Carballo, Ferrol, Narón, Oleiros, Santiago de Compostela/Santiago, \
Ribeira
16 969|Cuenca||Iniesta, Motilla del Palancar, San Clemente, Tarancón, Quintanar del Rey
17 972|Girona, Gerona||Blanes, Figueres, Lloret de Mar, Olot, Palafrugell, Ripoll, Salt
18 958|Granada||Almuñécar, Baza, Guadix, Loja, Maracena, Motril, Armilla
19 949|Guadalajara||Azuqueca de Henares, Brihuega, Molina de Aragón, Sigüenza
20 943|Guipúzcoa, Gipuzkoa|San Sebastián, Donostia, Donostia-San Sebastián, Donostia/San Sebastián, Donosti|\
Azpeitia, Éibar, Irún, Tolosa, Zarautz, Hernani
21 959|Huelva||Almonte, Ayamonte, Isla Cristina, Lepe, Moguer, Valverde del Camino
22 974|Huesca||Barbastro, Binéfar, Fraga, Jaca, Monzón, Sabiñánigo
23 953|Jaén||Alcalá la Real, Andújar, Baeza, Linares, Martos, Úbeda
24 987|León||Astorga, La Bañeza, Ponferrada, San Andrés del Rabanedo, Villablino
25 973|Lleida, Lérida||Balaguer, Cervera, La Seu d'Urgell, Mollerussa, Tàrrega
26 941|La Rioja, Rioja|Logroño|Alfaro, Arnedo, Calahorra, Haro, Nájera
27 982|Lugo||Burela, Chantada, Monforte de Lemos, Ribadeo, Sarria, Viveiro
28 91|Madrid, Comunidad de Madrid|Madrid|Alcalá de Henares, Alcobendas, Alcorcón, Aranjuez, Arganda del Rey, \
Boadilla, Collado Villalba, Coslada, Fuenlabrada, Getafe, Leganés, Majadahonda, Móstoles, Parla, Pinto, \
Pozuelo de Alarcón, San Sebastián de los Reyes, Torrejón de Ardoz, Torrelodones, Tres Cantos, Valdemoro
29 952|Málaga||Antequera, Benalmádena, Estepona, Fuengirola, Marbella, Nerja, Ronda, Torremolinos, Vélez-Málaga
30 968|Murcia, Región de Murcia|Murcia|Águilas, Caravaca de la Cruz, Cartagena, Cieza, Jumilla, Lorca, Mula, \
Totana, Yecla
31 948|Navarra, Nafarroa|Pamplona, Iruña|Barañáin, Burlada, Estella, Tafalla, Tudela
32 988|Ourense, Orense||Allariz, Barco de Valdeorras, Carballiño, Ribadavia, Verín
33 985|Asturias, Principado de Asturias|Oviedo|Avilés, Gijón, Langreo, Llanes, Mieres, Siero
34 979|Palencia||Aguilar de Campoo, Guardo, Herrera de Pisuerga, Venta de Baños
35 928|Las Palmas|Las Palmas de Gran Canaria, Las Palmas|Arrecife, Arucas, Gáldar, Puerto del Rosario, Telde, \
Santa Brígida
36 986|Pontevedra||Cangas, Lalín, Marín, Redondela, Vigo, Villagarcía de Arousa
37 923|Salamanca||Alba de Tormes, Béjar, Ciudad Rodrigo, Guijuelo, Peñaranda
38 922|Santa Cruz de Tenerife||Adeje, Arona, Güímar, La Laguna, La Orotava, Puerto de la Cruz
39 942|Cantabria|Santander|Camargo, Castro Urdiales, Laredo, Reinosa, Santoña, Torrelavega
40 921|Segovia||Cantalejo, Cuéllar, El Espinar, Riaza, Sepúlveda
41 954|Sevilla||Alcalá de Guadaíra, Carmona, Dos Hermanas, Écija, Lebrija, Mairena del Aljarafe, Morón, Osuna, Utrera
42 975|Soria||Almazán, Ágreda, El Burgo de Osma, Ólvega
43 977|Tarragona||Amposta, Cambrils, El Vendrell, Reus, Salou, Tortosa, Valls
44 978|Teruel||Alcañiz, Andorra, Calamocha, Utrillas
45 925|Toledo||Consuegra, Illescas, Madridejos, Ocaña, Quintanar de la Orden, Talavera de la Reina, Torrijos
46 963|Valencia, València||Alzira, Gandía, Manises, Oliva, Ontinyent, Paterna, Requena, Sagunto/Puerto de Sagunto, \
Sueca, Torrent, Utiel
47 983|Valladolid||Íscar, Laguna de Duero, Medina del Campo, Peñafiel, Tordesillas
48 944|Vizcaya, Bizkaia|Bilbao, Bilbo|Baracaldo, Basauri, Durango, Getxo, Portugalete, Santurce, Sestao
49 980|Zamora||Benavente, Bermillo, Puebla de Sanabria, Toro
50 976|Zaragoza||Calatayud, Caspe, Ejea de los Caballeros, La Almunia, Tarazona, Utebo
51 856|Ceuta||
52 95268|Melilla||
"""
_COMMUNITIES = """
    Andalucía, Aragón, Canarias/Islas Canarias, Castilla y León/Castilla-León/Castilla León,
    Castilla-La Mancha/Castilla La Mancha, Cataluña/Catalunya, Extremadura, Galicia, País Vasco/Euskadi,
    Comunidad Valenciana/Comunitat Valenciana
"""
# Country in English | states, departments, provinces | towns, the capital first.
_ABROAD = """
Mexico|Jalisco, Nuevo León/Nvo León, Puebla, Sonora, Veracruz, Yucatán, Estado de México, Oaxaca, Chiapas|\
Ciudad de México/México D.F./México DF/CDMX/D.F./DF, Guadalajara, Monterrey, Toluca, Morelia, Tijuana, Cancún, \
Hermosillo, Xalapa, Mérida, León, Querétaro
Guatemala|Alta Verapaz, Petén, Sololá, Izabal|Ciudad de Guatemala, Quetzaltenango, Escuintla, Cobán, Chiquimula
Honduras|Cortés, Yoro, Olancho, Atlántida|Tegucigalpa, San Pedro Sula, La Ceiba, Choluteca, Comayagua
El Salvador|La Libertad, Sonsonate, Usulután, Cuscatlán|San Salvador, Santa Ana, San Miguel, Soyapango, Ahuachapán
Nicaragua|Chontales, Matagalpa, Rivas, Boaco|Managua, Estelí, Masaya, Chinandega, Jinotega
Costa Rica|Guanacaste, Alajuela, Limón, Puntarenas|San José, Heredia, Liberia, Turrialba, Desamparados
Panama|Chiriquí, Coclé, Veraguas, Darién|Ciudad de Panamá, David, Colón, La Chorrera, Penonomé
Cuba|Granma, Camagüey, Holguín, Pinar del Río, Villa Clara|La Habana, Santiago de Cuba, Bayamo, Cienfuegos, \
Matanzas, Santa Clara
Dominican Republic|La Vega, Samaná, Puerto Plata, San Juan|Santo Domingo, Barahona, Higüey, Moca, La Romana
Puerto Rico|Humacao, Arecibo, Mayagüez, Ponce|San Juan, Caguas, Fajardo, Carolina, Guaynabo
Colombia|Antioquia, Cundinamarca, Santander, Boyacá, Caldas, Tolima, Nariño, Atlántico|Bogotá, Medellín, Cali, \
Barranquilla, Bucaramanga, Manizales, Pereira, Ibagué, Cúcuta, Cartagena, Armenia
Venezuela|Zulia, Miranda, Carabobo, Táchira, Aragua|Caracas, Maracaibo, Barquisimeto, Maracay, San Cristóbal, \
Cumaná, Valencia, Mérida
Ecuador|Pichincha, Guayas, Azuay, Manabí, Loja|Quito, Guayaquil, Ambato, Riobamba, Portoviejo
Peru|Junín, Cajamarca, Piura, Áncash, Puno|Lima, Arequipa, Cusco, Chiclayo, Huancayo, Tacna, Trujillo
Bolivia|Chuquisaca, Potosí, Beni, Tarija|La Paz, Cochabamba, Oruro, Sucre, Santa Cruz de la Sierra
Chile|Valparaíso, Biobío, Araucanía, Maule, Antofagasta|Santiago de Chile/Santiago, Concepción, Temuco, Talca, \
Iquique, La Serena, Osorno
Argentina|Corrientes, Misiones, Chaco, Tucumán, Chubut, Entre Ríos|Buenos Aires, Rosario, Mendoza, Mar del Plata, \
Salta, Neuquén, Bahía Blanca, Posadas, Córdoba, Santa Fe
Uruguay|Canelones, Colonia, Durazno, Flores|Montevideo, Salto, Paysandú, Maldonado, Tacuarembó
Brazil|Bahía, Paraná, Ceará, Minas Gerais|Brasilia, Curitiba, Recife, Fortaleza, Porto Alegre, Manaos
Haiti|Artibonito, Nippes|Puerto Príncipe, Cabo Haitiano, Gonaïves, Jacmel
Jamaica|Cornwall, Surrey|Kingston, Montego Bay, Mandeville, Portmore
Trinidad and Tobago|Tobago, Arima|Puerto España, Chaguanas, Scarborough
Paraguay|Itapúa, Caaguazú, Guairá, Amambay|Asunción, Encarnación, Luque, Villarrica, Pilar
"""
# State, its letters, and the first and last three digits that begin its ZIP codes.
_STATES = """
Alabama AL 350 369, Alaska AK 995 999, Arizona AZ 850 865, Arkansas AR 716 729, California CA 900 961,
Colorado CO 800 816, Connecticut CT 060 069, Delaware DE 197 199, Florida FL 320 349, Georgia GA 300 319,
Hawaii HI 967 968, Idaho ID 832 838, Illinois IL 600 629, Indiana IN 460 479, Iowa IA 500 528, Kansas KS 660 679,
Kentucky KY 400 427, Louisiana LA 700 714, Maine ME 039 049, Maryland MD 206 219, Massachusetts MA 010 027,
Michigan MI 480 499, Minnesota MN 550 567, Mississippi MS 386 397, Missouri MO 630 658, Montana MT 590 599,
Nebraska NE 680 693, Nevada NV 889 898, New Hampshire NH 030 038, New Jersey NJ 070 089, New Mexico NM 870 884,
New York NY 100 149, North Carolina NC 270 289, North Dakota ND 580 588, Ohio OH 430 459, Oklahoma OK 730 749,
Oregon OR 970 979, Pennsylvania PA 150 196, Rhode Island RI 028 029, South Carolina SC 290 299,
South Dakota SD 570 577, Tennessee TN 370 385, Texas TX 750 799, Utah UT 840 847, Vermont VT 050 059,
Virginia VA 220 246, Washington WA 980 994, West Virginia WV 247 268, Wisconsin WI 530 549, Wyoming WY 820 831
"""


class Province(NamedTuple):
    """A province of Spain, or a region of another country.

    Attributes:
        number: the two digits that begin its postcodes, after the letters of a foreign country: "CH80".
        dialled: the area code of most of its telephone numbers.
        names: its names, the usual one first.
        capitals: the names of its capital, the usual one first.
        towns: the names of each other town.
        further_numbers: further digits that begin its postcodes.
    """

    number: str
    dialled: str
    names: tuple[str, ...]
    capitals: tuple[str, ...]
    towns: tuple[tuple[str, ...], ...]
    further_numbers: tuple[str, ...] = ()

    @property
    def shares_name(self) -> bool:
        """True if the province and its capital share a name."""
        return self.names[0] in self.capitals

    @property
    def country(self) -> str:
        """The letters of a foreign country: "CH"."""
        return self.number.rstrip("0123456789")

    @property
    def own_towns(self) -> tuple[str, ...]:
        """The usual names of its towns, the capital first; none in a foreign country."""
        return () if self.country else tuple(names[0] for names in (self.capitals, *self.towns))


class Abroad(NamedTuple):
    """A country of the Americas: its English name, and the names of its states and of its towns, the capital first."""

    country: str
    states: tuple[tuple[str, ...], ...]
    towns: tuple[tuple[str, ...], ...]


class State(NamedTuple):
    """A state of the USA: name, letters, and the first and last three digits that begin its ZIP codes."""

    name: str
    letters: str
    first: int
    last: int


def _names(text: str) -> tuple[str, ...]:
    return tuple(" ".join(name.split()) for name in text.split(",") if name.strip())


def _named(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the names of each place of a list, the usual one first."""
    return tuple(tuple(name.split("/")) for name in _names(text))


@lru_cache(maxsize=1)
def provinces() -> tuple[Province, ...]:
    """Return the provinces of Spain, by their numbers."""
    found = []
    for line in _PROVINCES.strip().splitlines():
        numbers, names, capitals, towns = line.split("|")
        number, dialled = numbers.split()
        found.append(Province(number, dialled, _names(names), _names(capitals) or _names(names), _named(towns)))
    return tuple(found)


@lru_cache(maxsize=16)
def packed_provinces(code: str) -> tuple[Province, ...]:
    """Return the provinces of a language pack: "10 12|name|capital|towns" a line, names after a slash."""
    found = []
    for line in surrogate_table(LANGUAGES[code], "places").get("provinces", "").strip().splitlines():
        numbers, names, capital, towns = line.split("|")
        number, *further = numbers.split()
        found.append(Province(number, "", _names(names), tuple(capital.split("/")), _named(towns), tuple(further)))
    return tuple(found)


def provinces_of(locale: str) -> tuple[Province, ...]:
    """Return the provinces whose numbers begin a locale's postcodes; none for a locale without."""
    if locale in ("es", "es_ES"):
        return provinces()
    return packed_provinces(locale[:2]) if language_pack(locale) else ()


@lru_cache(maxsize=1)
def abroad() -> tuple[Abroad, ...]:
    """Return the countries of the Americas."""
    rows = (line.split("|") for line in _ABROAD.strip().splitlines())
    return tuple(Abroad(country, _named(states), _named(towns)) for country, states, towns in rows)


@lru_cache(maxsize=1)
def states() -> tuple[State, ...]:
    """Return the states of the USA."""
    rows = (name.rsplit(" ", 3) for name in _names(_STATES))
    return tuple(State(name, letters, int(first), int(last)) for name, letters, first, last in rows)


@lru_cache(maxsize=1)
def spanish_towns() -> tuple[str, ...]:
    """Return the usual names of the towns and capitals of Spain's provinces."""
    return tuple(
        sorted({town for one in provinces() for town in (one.capitals[0], *(names[0] for names in one.towns))})
    )


COMMUNITIES = _named(_COMMUNITIES)
"""Names of Spain's communities of more than one province; the others have the name of their province."""


# Region: English name / Spanish name, or one name for both. Other names of a country follow after |.
_REGIONS = """
Southern Europe: Spain/España, Portugal, Italy/Italia, Greece/Grecia, Malta, Cyprus/Chipre, Croatia/Croacia, Andorra
Western Europe: France/Francia, Germany/Alemania, Belgium/Bélgica, Netherlands/Países Bajos|Holland/Holanda, \
Austria, Switzerland/Suiza, Luxembourg/Luxemburgo, Ireland/Irlanda, \
United Kingdom/Reino Unido|UK|U.K.|Great Britain/Gran Bretaña|England/Inglaterra|Scotland/Escocia|Wales/Gales
Northern Europe: Norway/Noruega, Sweden/Suecia, Denmark/Dinamarca, Finland/Finlandia, Iceland/Islandia, Estonia, \
Latvia/Letonia, Lithuania/Lituania
Eastern Europe: Poland/Polonia, Romania/Rumanía|Rumania, Bulgaria, Hungary/Hungría, Ukraine/Ucrania, Russia/Rusia, \
Moldova/Moldavia, Slovakia/Eslovaquia, Serbia, Albania, Georgia, Armenia
Northern Africa: Morocco/Marruecos, Algeria/Argelia, Tunisia/Túnez, Libya/Libia, Egypt/Egipto, Mauritania
Western Africa: Senegal, Gambia|The Gambia, Mali/Malí, Guinea, Guinea-Bissau/Guinea-Bisáu, Sierra Leone/Sierra Leona, \
Liberia, Ivory Coast/Costa de Marfil, Ghana, Togo, Benin/Benín, Nigeria, Niger/Níger, Burkina Faso, \
Cape Verde/Cabo Verde
Central and Southern Africa: Cameroon/Camerún, Gabon/Gabón, Congo, Angola, Equatorial Guinea/Guinea Ecuatorial, Chad, \
Kenya/Kenia, Uganda, Tanzania, Ethiopia/Etiopía, Somalia, Sudan/Sudán, Eritrea, Mozambique, Zambia, Zimbabwe/Zimbabue, \
South Africa/Sudáfrica, Namibia, Madagascar
Middle East: Turkey/Turquía, Syria/Siria, Lebanon/Líbano, Israel, Jordan/Jordania, Iraq/Irak, Iran/Irán, \
Saudi Arabia/Arabia Saudí|Arabia Saudita, Yemen, Kuwait, Oman/Omán
Southern Asia: India, Pakistan/Pakistán, Bangladesh/Bangladés, Nepal, Sri Lanka, Afghanistan/Afganistán
Eastern Asia: China, Japan/Japón, South Korea/Corea del Sur|Korea/Corea, Mongolia, Taiwan/Taiwán
South-Eastern Asia: Philippines/Filipinas, Vietnam, Thailand/Tailandia, Indonesia, Malaysia/Malasia, Cambodia/Camboya, \
Laos, Myanmar|Burma/Birmania, Singapore/Singapur
Northern America: United States/Estados Unidos|United States of America/Estados Unidos de América|USA|U.S.A.|U.S.|US|\
EE.UU.|EE. UU.|EEUU, Canada/Canadá
Central America: Mexico/México|Méjico, Guatemala, Honduras, El Salvador|Salvador, Nicaragua, Costa Rica, Panama/Panamá
Caribbean: Cuba, Dominican Republic/República Dominicana, Haiti/Haití, Jamaica, Puerto Rico, Trinidad and Tobago/\
Trinidad y Tobago
Southern America: Colombia, Venezuela, Ecuador, Peru/Perú, Bolivia, Chile, Argentina, Uruguay, Paraguay, Brazil/Brasil
Oceania: Australia, New Zealand/Nueva Zelanda, Papua New Guinea/Papúa Nueva Guinea, Fiji/Fiyi
"""


HOMES = {
    **dict.fromkeys(("en", "en_US"), "United States"),
    **dict.fromkeys(("es", "es_ES", "es_CA"), "Spain"),
    **{"en_GB": "United Kingdom", "en_IE": "Ireland", "en_CA": "Canada", "en_AU": "Australia", "en_NZ": "New Zealand"},
    **{"en_IN": "India", "es_MX": "Mexico", "es_AR": "Argentina", "es_CL": "Chile", "es_CO": "Colombia"},
}
"""Locale -> English name of its country."""


class Country(NamedTuple):
    """Usual names of a country in both languages, and its region."""

    english: str
    spanish: str
    region: str


@lru_cache(maxsize=1)
def known_countries() -> dict[str, tuple[Country, set[str]]]:
    """Return, for each casefolded name, its country and the languages of the name: "en", "es" or both."""
    found: dict[str, tuple[Country, set[str]]] = {}
    for line in _REGIONS.strip().splitlines():
        region, _, names = line.partition(": ")
        for entry in names.split(", "):
            usual, *others = (name.split("/") for name in entry.split("|"))
            country = Country(usual[0], usual[-1], region)
            for name in (usual, *others):
                found.setdefault(casefold_accents(name[0]), (country, set()))[1].add("en")
                found.setdefault(casefold_accents(name[-1]), (country, set()))[1].add("es")
    return found


def country_in_same_region(english: str, keyed: Chooser) -> Country:
    """Return another country of the region, by English name."""
    country = known_countries()[casefold_accents(english)][0]
    known = dict.fromkeys(other for other, _ in known_countries().values())
    region = {casefold_accents(other.english): other for other in known if other.region == country.region}
    names = tuple(region)
    return region[keyed.other(f"countries of {country.region}", casefold_accents(country.english), names)]


def other_country(text: str, keyed: Chooser, locale: str) -> str | None:
    """Return another country of the same region in the same language, or None for no country.

    The country of the locale stays, and its neighbours of the same language: it reveals no more than the language, and
    the surrogates of towns are in it.
    """
    pack = language_pack(locale)
    if pack is not None:
        plain = casefold_accents(text.strip())
        homes = {*map(casefold_accents, pack.entries("surrogates", "places", "home"))}
        if plain in homes:
            return text
        regions = (_names(line) for line in surrogate_table(pack, "places").get("countries", ()))
        region = next((names for names in regions if plain in map(casefold_accents, names)), ())
        others = tuple(name for name in region if casefold_accents(name) not in homes)
        return with_case_of(keyed.other(f"countries of {region[0]}", plain, others), text) if len(others) > 1 else None
    known = known_countries().get(casefold_accents(text.strip()))
    if known is None:
        return None
    country, languages = known
    if country.english == HOMES.get(locale):
        return text
    found = country_in_same_region(country.english, keyed)
    is_spanish = languages == {"es"} or (locale.startswith("es") and "es" in languages)
    return found.spanish if is_spanish else found.english


def _street_names(text: str) -> tuple[str, ...]:
    return tuple(sorted(" ".join(name.split()) for name in text.split(",")))


STREETS_OF = _street_names(
    """
    de la Constitución, de la Libertad, de la Fuente, de la Iglesia, de la Estación, de la Alameda, de la Encina,
    de la Ermita, de la Rosaleda, de la Industria, de la Concordia, de la Noria, de la Independencia, de la Ribera,
    de las Flores, de las Acacias, de las Palmeras, de las Huertas, de los Olivos, de los Almendros, de los Naranjos,
    de los Cipreses, de los Tilos, del Prado, del Sol, del Molino, del Parque, del Pinar, del Jardín, del Rosal,
    del Mercado, del Puente, del Olivar, del Castillo, del Arroyo, del Comercio
    """
)
"""Names of streets that begin with a preposition."""

STREETS = _street_names(
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
    "male": _street_names(
        "Bernabé, Blas, Camilo, Ildefonso, Jorge, Lázaro, Lucas, Millán, Rafael, Roque, Telmo, Vicente"
    ),
    "female": _street_names(
        "Águeda, Ana, Bárbara, Catalina, Cecilia, Clara, Elena, Eulalia, Isabel, Lucía, Marta, Mónica"
    ),
}
"""Names of saints for streets and hospitals."""

SAINT_WORDS = {
    **dict.fromkeys(casefold_words("san santo sant sto"), "male"),
    **dict.fromkeys(casefold_words("santa sta"), "female"),
}
"""Casefolded words for a saint, and their sex."""

HOUSES = _street_names(
    """
    La Merced, La Esperanza, La Luz, La Encina, La Concordia, La Magdalena, La Alameda, El Carmen, El Pilar, El Parque,
    Los Olivos, Los Rosales, Los Almendros, Las Flores, Las Acacias
    """
)
"""Names of hospitals and health centres with an article."""

LANDSCAPES = _street_names(
    """
    de la Ribera, de la Vega, de la Sierra, de la Costa, de la Campiña, de la Marina, del Valle, del Llano, del Río,
    del Norte, del Oeste, de Levante
    """
)
"""Names of hospitals after a part of the country."""

VIRGINS = _street_names(
    """
    de la Luz, del Carmen, de la Paz, del Pilar, de la Esperanza, del Camino, del Mar, de los Remedios, de Gracia,
    de la Vega, del Valle, de la Sierra, del Consuelo, de Belén
    """
)
"""Names of hospitals after "Virgen"."""
