"""Towns of Spain, of which Faker has the provinces alone, and states of the United States."""

_TOWNS = """
    Albacete, Alcalá la Real, Alcañiz, Alcoy, Algeciras, Alicante, Almansa, Almendralejo, Almería, Andújar,
    Antequera, Aranda de Duero, Aranjuez, Arcos de la Frontera, Astorga, Ávila, Avilés, Badajoz, Baeza, Barbastro,
    Baza, Béjar, Benavente, Benicarló, Betanzos, Bilbao, Burgos, Cáceres, Cádiz, Calahorra, Calatayud, Carballo,
    Carmona, Cartagena, Castellón, Caudete, Cieza, Ciudad Rodrigo, Coria, Córdoba, Cuenca, Daimiel, Dénia, Durango,
    Écija, Éibar, Elche, Elda, Estepona, Ferrol, Figueres, Gandía, Getxo, Gijón, Granada, Granollers, Guadalajara,
    Guadix, Haro, Hellín, Huelva, Huesca, Ibi, Igualada, Inca, Iniesta, Irún, Jaca, Jaén, Jávea, Jerez, Jumilla,
    Laredo, La Roda, León, Lepe, Linares, Llanes, Lleida, Logroño, Loja, Lorca, Lucena, Lugo, Madridejos, Málaga,
    Manacor, Manresa, Manzanares, Marbella, Martos, Mataró, Mérida, Mieres, Miranda de Ebro, Molina de Segura,
    Monforte, Montilla, Morón, Motril, Mula, Murcia, Navalcarnero, Nerja, Novelda, Ocaña, Olot, Onda, Ontinyent,
    Orense, Orihuela, Osuna, Oviedo, Palencia, Pamplona, Peñafiel, Plasencia, Ponferrada, Pontevedra, Priego,
    Puertollano, Quintanar, Requena, Reus, Ribadeo, Ronda, Roquetas, Rota, Sabadell, Sabiñánigo, Sagunto,
    Salamanca, Sanlúcar, Santander, Santoña, Segorbe, Segovia, Sestao, Sevilla, Sitges, Soria, Sueca, Tafalla,
    Talavera, Tarancón, Tarazona, Tarragona, Tarrasa, Telde, Teruel, Toledo, Tolosa, Tomelloso, Toro, Torrelavega,
    Torrevieja, Tortosa, Totana, Tudela, Úbeda, Utiel, Utrera, Valdepeñas, Valencia, Valladolid, Valls, Vélez,
    Vera, Vic, Vigo, Villarreal, Villena, Vinaroz, Vitoria, Yecla, Zafra, Zamora, Zaragoza
"""
SPANISH_TOWNS = tuple(sorted(" ".join(name.split()) for name in _TOWNS.split(",")))

_STATES = """
    Alabama, Alaska, Arizona, Arkansas, California, Colorado, Connecticut, Delaware, Florida, Georgia, Hawaii,
    Idaho, Illinois, Indiana, Iowa, Kansas, Kentucky, Louisiana, Maine, Maryland, Massachusetts, Michigan,
    Minnesota, Mississippi, Missouri, Montana, Nebraska, Nevada, New Hampshire, New Jersey, New Mexico, New York,
    North Carolina, North Dakota, Ohio, Oklahoma, Oregon, Pennsylvania, Rhode Island, South Carolina, South Dakota,
    Tennessee, Texas, Utah, Vermont, Virginia, Washington, West Virginia, Wisconsin, Wyoming
"""
US_STATES = tuple(" ".join(name.split()) for name in _STATES.split(","))
