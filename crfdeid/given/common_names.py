"""Names that are words too, in English and Spanish: in small letters they say nobody's name.

The list is of surnames and given names, not of words: a word that nobody is called need not stand in it.
"""

from __future__ import annotations

from crfdeid.given.folded import fold
from features.lexicons import word_classes

_ENGLISH = """
    angel apple archer arrow art ash baker bald ball band bank banks barber bass bean bear bell belt berry best bill
    bird bishop black blank block blood bloom blue blunt bolt bond bone bones boot booth bow bowl bowls boxer brain
    bray bread brook brooks broom brown buck budd bull burn burns bush butcher butler butter button cage cain cane
    cannon care carpenter carter carver case cash chambers chance charity chase chew child christian church close
    cloud coffee coffin coin cold comfort constant cook cooper corn cotton cousin craft crane crisp cross crow
    crystal dark dawn day days dean death deed dell dill dove drum duck duke dust dusty dye early east eden elder
    faith fall fallen fame fare farmer fear field fields fish fisher flood flower flowers fly foot ford forest
    foster fox frank free freed french friend frost fry gamble game garden gay gene glad glass gold golden good
    goodness goose gore grace grant grave graves green grey grief grim ground grove guy hail hair hale hall ham hand
    hands harm harp hart hawk head heard heart hearts heath heather hedge hedges held herb hill hills hire hole
    holiday holly holmes honey hood hook hope horn horne horse house hung hunt hunter hurt husband ice iron ivy
    jewel jolly judge justice keen key keys kidney kind king kiss knight knot lake lamb lance land lane large lark
    last law lay lead lean leave lee lent level limb line link lip little lock long lord lots loud love loving low
    luck lucky lung mace main major male man mandible marble march mark marks marsh mason mast may means melody
    mercy merry mild miles mill miller mills miner mole moon moore moss mound mouse mouth much mustard nail neck
    need new night noble noon north nose nun nurse nut oak oaks olive olives opal oral orange overall pace page pain
    palm parent parish park parks parrot part patience patient peace peach pear pearl pen pepper perch pet pick
    piece pierce pill pine pink place plain plant plum plump pole pond pool poole poor poppy port post pot potter
    power powers precious press price pride prince prior proud quick rail rain rains ramp rash raven ray read reader
    ready reason red reed rein rest rice rich rider ridge ring rise river rivers rob robin rock rocks rod rose rot
    rough round royal ruby rue rush rust sage sailor sales salmon salt sand sands savage seal seals self senior
    serenity sexton shade sharp shepherd shields shine ship shoemaker short shy silver simple singer skeleton skin
    skinner slaughter small smart smoke snow sole south sparks speed spice spine spring springer stack staff stage
    star start steel stem step stepp sterling stern still stock stone stones storm stout strain strange street
    strength strong summer summers sun sweet swift sword tale tall tanner tasker temple tender thick thin thrush tie
    tiller tooth tower towers town train travel tree true trust tuck turner twin usher vale valentine van vein
    verity virgin virtue waist waits wake walk walker wall walls ward ware warner warren wars waters way wedge week
    weeks weight welcome welder well wells west wheat white whites wild will willow wills win winner winter winters
    wise wolf wood woods word wore works worth wrist yarn yeast young younger youngest zeal
"""
_SPANISH = """
    abad abierto abril acero agua aguado aire alas alba albo alcalde alegre alegría alférez alma almendro alta alto
    altos ama amable amado amador amor ancho angustias anillo arco ardor armas arroyo arteria ascensión asunción
    ayuso azul bajo banda barba barbero barra barranco barrera barreras barrio barro barón batalla beato becerra
    becerro bellido bello benigno blanca blanco blandón boca bola bonito borrego bosque botella boticario brava
    bravo brazo brazos bruno buendía bueno caballero caballo cabello cabeza cabezas cabo cabra cadena caldera calle
    calleja callejo calvario calvo calzada camino caminos campillo campo campos cana canal candelaria candil cano
    canto cara cardenal cardo caridad carne carrera carreras carretero casa casado casas caso castaña castaño
    castillo cava caña cañas celeste cerda cerdo cerezo cerrado cerro chico cid ciego cielo claro clavel clavero
    clavo collado collar color comunión concepción conde consuelo contador corazón cordero cordón corona coronado
    corral correa cortado corte cortijo corto costa costilla coto crespo crisis cristal cruces crudo cruz cuadra
    cuadrado cuello cuenca cuerda cuervo cuesta cueva cuevas curado dado dedo delgada delgado delicado desamparados
    descalzo dichoso diente doblado dolor dolores dorado duque duro días díez elegido encarnación encina encinas
    enero enfermo entero ermita escalera escribano escudero espada espejo esperanza espina espino estrada estrecho
    estrella faja falda falla feliz ferrer ferro fiel fierro fino flor flores fortuna franca franco frente fresno
    frutos frío fuente fuentes fuerte fuertes gala gallardo gallego gallo gamba garra garza gata gato gordo gracia
    gracias grado grande gris grueso guapo guardia guerra guerrero guindo gusano haba hermosa hermoso hernia herrera
    herrero hierro higo higuera hoja holgado hombre hornos hospital hoyo hoyos huerta huertas hueso huesos hurtado
    iglesia iglesias infante isla izquierdo jabonero jardín joven jurado justo lago laguna largo lazo leal lechuga
    letra león libre lima limón linda lindo lino liso llano llanos llave lobo loma lomas lozano luna luz lámina
    macho madero madre madrid malo mancha manco mano manos manso manzana manzano mar maravillas marqués martillo
    marzo mata mayo mayor mayoral media medina medio mellado melón menor mercado merced mercedes mesa mesas milagro
    milagros mina minero mira moda molinero molino monja montaña monte mora morado moral morales morena moreno moro
    mudo muela muelas mulero mármol más naranjo nariz nata natividad negra negro nevado niebla nieto nieve nieves
    niño noche nogal novo nube nuevo obispo ojo ojos olas olivas olivera olivo olmo olmos orden oreja orejas oro oso
    padre paja palacio palacios palma paloma pan pardo pared paredes parejo parra parras pascua pasos pastor paz
    paños pecho pedrero peligro pelo pequeña pequeño pera perales perdón perla perona pesado pescador peña peñas
    pico pie piedad piedra piel pilar pinar pino pinos pinto pintor piña plata plaza polo porras portero poza pozo
    prado prados precioso presa presentación prieta prieto primo puente puerta puertas puerto pulgar pulido quemado
    quinta quintero rama ramas ramos raya rayo real recio redondo regalado reina remedios rey reyes ribera rico
    riego risa rivera rivero roca rodilla roja rojo ronda rosado rosas rubia rubio rueda ruedas ruiseñor río ríos
    sabio sagrado salado salina salud salvador salvadora sangre sano santa santo seco segura seguro serio serrano
    severo sierra silva socorro sol solano soldado soledad soto suelo suero tapia terrón tierno tierra tirado tomás
    toro torre torres trigo trillo trinidad triste urgencias vaca vacas valiente valle valles vara vega vegas vela
    velas velo vena venas ventura verano verde verdugo vicario victoria vida viejo vientre villa violeta visitación
    viva vivas vivo viña zapata zorro zurdo
"""
_PLACES = {"state", "province", "country"}  # in small letters they are no words either


def is_word(name: str) -> bool:
    """Whether a name in small letters is a word that notes have for other things; the name as `fold` gives it.

    Example:
        >>> is_word("brown"), is_word("may"), is_word("quill"), is_word("carolina")
        (True, True, False, False)
    """
    return name in _WORDS or not _PLACES.issuperset(word_classes(name))


_WORDS = frozenset(map(fold, [*_ENGLISH.split(), *_SPANISH.split()]))
