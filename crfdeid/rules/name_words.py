"""Words that are names, words of the language, and the checks of the rules for names that are made of both.

A word after "Dr." is nearly always a name; after "patient" or "seen by" it is as often a word of the language
("Patient Denies pain", "visto por Cardiología"). The lists are of common words, folded, as everybody knows them: no
list holds anybody's data, and the rules depend on no other package's lists.
"""

from __future__ import annotations

import re
from functools import lru_cache

from crfdeid.given.common_names import is_word
from crfdeid.given.folded import fold
from features.lexicons import word_classes

_SPANISH_GIVEN = """
    aaron abel abelardo abraham abril ada adela adelaida adelina adolfo adoracion adrian adriana agapito agata agueda
    agustin agustina ahmed aicha aida ainara ainhoa aitana aitor alba albert alberto alejandra alejandro alejo alex
    alexandra alexia alfonsa alfonso alfredo ali alicia almudena alonso alvaro amadeo amaia amalia amanda amaya amelia
    amparo ana anabel anais anastasia andrea andrei andres andreu angel angela angeles angelica angelina aniceto anna
    anselmo antonia antonio araceli arantxa ariadna ariel armando arnau arsenio arturo asier asuncion aurelia aurelio
    aurora ausias azahara azucena baltasar barbara bartolome basilio beatriz begona belen beltran benedicta benito
    benjamin berenguer berna bernabe bernarda bernardino bernardo berta biel blanca blas borja brigida bruno calixto
    candela candelaria candida candido carla carles carlos carlota carme carmela carmelo carmen carolina casimiro
    catalina cayetano cecilia celestino celia celso cesar chema cipriano clara clarisa claudia claudio clemente clotilde
    concepcion conchita constantino consuelo cristian cristina cristobal custodia dafne damian daniel daniela dario
    david debora delfin delfina demetrio desiree diana diego dionisio dolores dominga domingo donato dorotea eduardo
    efren elena eleuterio elia elias eligio elisa elisabet elisenda eloisa eloy elsa elvira emeterio emilia emiliano
    emilio emma encarna encarnacion enric enrique enriqueta epifanio eric ernesto esmeralda esperanza esteban estefania
    estela estelle esther estibaliz estrella eufemia eugenia eugenio eulalia eusebio eustaquio eva evaristo ezequiel
    fabian fabiola fatima fatou faustino fausto feliciano felipe felisa felix fermin fernanda fernando ferran fidel
    filomena flora florencia florencio florentina florentino francesc francisca francisco fulgencio gabino gabriel
    gabriela gaspar gemma genoveva gerardo german gertrudis gil gines ginesa gisela gloria gonzalo gorka graciela
    gregoria gregorio guadalupe guillem guillermina guillermo gumersindo gustavo hamza hassan hector helena heliodoro
    hermenegildo herminia herminio higinio hilario hipolito honorio horacio hugo humberto ian iban ibrahim ignacia
    ignacio igor iker ildefonso imanol imma immaculada indalecio ines inigo inma inmaculada ioana ion irene iris irma
    isaac isabel isidora isidoro isidro ismael israel itziar ivan ivet izan jacinta jacinto jacobo jaime jan jana javier
    jeremias jeronimo jesica jesus jesusa jing joan joana joaquin joaquina joel jon jordi jorge jose josefa josefina
    josep josue juan juana julia julian juliana julio justina justino karim karina kepa kevin khadija koldo laia lara
    laura laureano lazaro leandro leire leo leocadia leonardo leonor leopoldo leticia li lia lidia liliana lola lorena
    lorenzo lourdes lucas lucia luciana luciano lucrecia luis luisa lydia macarena magdalena maialen maite mamadou
    manolo manuel manuela mar mara marc marcela marcelina marcelino marcelo marcial marco marcos margarita mari maria
    mariana mariano maribel marina mario marisa marisol marta martin martina mateo matias matilde mauricio maxima
    maximiliano maximino melania melchor merce mercedes micaela miguel mihai mikel milagros miquel mireia miren miriam
    modesto mohamed mohammed moises monica montse montserrat muhammad mustafa nahia natalia nekane nerea nestor nicanor
    nicolas nicolasa nieves noa noelia noemi norma nuria octavio odette ofelia olga oliver olivia omar onofre oriol
    oscar osvaldo ousmane pablo paco palmira paloma paola pascual pascuala patricia patricio patxi pau paula paulina
    paulino pedro pelayo pepa pepe petra pilar placido pol primitivo prudencia prudencio purificacion quim quintin
    rachid rafael rafaela raimundo ramiro ramon ramona raquel raul rebeca regina reinaldo remedios renata ricardo rita
    roberto rocio rodolfo rodrigo rogelio roger roman romina roque rosa rosalia rosalinda rosana rosario rosaura roser
    ruben rufina rufino ruth sabina sabino said salome salvador samuel sandra santiago santos sara saray saturnino saul
    sebastian segismundo segundo serafin serafina sergi sergio severiano severino silverio silvestre silvia simon sofia
    soledad sonia soraya susana tamara tania teodora teodoro teofilo teresa tirso tobias tomas tomasa toribio trinidad
    ulises unai urbano ursula valentin valentina valeria valeriano vanesa vasile vega venancio vera veronica vicenc
    vicenta vicente victor victoria victoriano vidal violeta virgilio virginia virtudes visitacion viviana wei wenceslao
    xabier xavier ximena xoan yago yaiza yasmina yerai yolanda youssef zacarias zaida zoe zoraida zulema
"""
_ENGLISH_GIVEN = """
    aaron abbie abby abigail abraham ada adam addison adrian adrienne agnes aidan aisha alan alana albert alec alejandra
    alex alexa alexander alexandra alexis alfred alice alicia alisha alison allan allison alma alvin alyssa amanda amber
    amelia amina amir amit amy ana anders andre andrea andrew andy angela angelica angelina anita ann anna anne annette
    annie anthony antoine antonia antonio anya april ariana arjun arlene arnold arthur asha ashley audrey austin ava
    avery ayesha barbara barry beatrice becky ben benjamin bernadette bernard bernice bertha beth bethany betty beverly
    bill billy blake bob bobby bonnie brad bradley brandon brenda brendan brent brett brian bridget brittany brooke
    bruce bryan caitlin caleb calvin cameron camilla candice carl carla carlos carol carole caroline carolyn carrie
    casey cassandra catherine cathy cecil cecilia chad charlene charles charlie charlotte chelsea cheryl chloe chris
    christian christina christine christopher cindy claire clara clarence claudia clayton clifford clinton clyde cody
    colin colleen connie connor corey courtney craig crystal curtis cynthia daisy dale dan dana daniel danielle danny
    darlene darren darryl dave david dawn dean deanna debbie deborah debra deepak delia denise dennis derek derrick
    desmond diana diane dimitri dolores dominic don donald donna donovan dora doreen doris dorothy doug douglas duane
    dustin dwayne dylan earl eddie edgar edith edmund edna eduardo edward edwin eileen elaine eleanor elena eli elias
    elijah elisabeth elizabeth ella ellen ellie elliot elmer eloise elsie emily emma enrique eric erica erik erin ernest
    esther ethan ethel eugene eunice eva evan evelyn faisal fatima felicia felix fernando fiona florence floyd frances
    francis francisco frank franklin fred freda freddie frederick gabriel gabrielle gail garrett gary gavin gene
    geoffrey george georgia gerald geraldine gerard gertrude gilbert gina giorgio gladys glen glenda glenn gloria gordon
    grace graham greg gregory greta guy gwen gwendolyn hannah harold harriet harry harvey hazel heather hector heidi
    helen helena henrietta henry herbert herman hilary hilda holly howard hugh hugo ian ida imran inez ingrid irene iris
    irma isaac isabel isabella isaiah ivan ivy jack jackie jackson jacob jacqueline jacques jade jaime jake jamal james
    jamie jan jane janet janice jared jasmine jason jay jean jeanette jeanne jeff jeffery jeffrey jen jenna jennifer
    jenny jeremiah jeremy jerome jerry jesse jessica jessie jesus jill jim jimmy jo joan joann joanna joanne jocelyn
    jodi joe joel joey johanna john johnny jon jonah jonathan jordan jorge jose joseph josephine josh joshua joy joyce
    juan juanita judith judy julia julian julie juliet june justin kaitlyn karen kari karl karla kate katherine kathleen
    kathryn kathy katie katrina kay kayla keisha keith kelly kelsey ken kendra kenneth kenny kent kerry kevin khalid kim
    kimberly kirk kofi kristen kristin kristina kristine kurt kwame kyle lamar lance larry latoya laura lauren laurence
    laurie lawrence leah lee leila lena leo leon leona leonard leroy leslie lester leticia lewis liam lila lillian lily
    linda lindsay lindsey lisa lloyd logan lois lola lonnie lora loretta lori lorraine louis louise lucas lucille lucy
    luis luke lydia lyle lynda lynn mabel mackenzie madeline madison maggie malcolm malik manuel marc marcia marcus
    margaret margarita maria mariah marian marianne marie marilyn mario marion marjorie mark marlene marsha marshall
    martha martin marvin mary mason mathew matt matthew maureen maurice max maxine maya megan melanie melinda melissa
    melody melvin mercedes meredith michael micheal michele michelle miguel mike mildred milton mindy minh miranda
    miriam misty mitchell mohammad molly monica monique morgan muriel myra myrtle nadia nadine nancy naomi natalie
    natasha nathan nathaniel neil nelson nicholas nick nicole nikhil nina noah noel nora norma norman olga olive oliver
    olivia olu oscar otis owen paige pamela patricia patrick patsy patti paul paula paulette pauline pedro peggy
    penelope penny percy perry peter phil philip phillip phoebe phyllis pierre polly preston priscilla priya quentin
    rachael rachel rafael raj rajesh ralph ramon randall randy raquel ravi ray raymond rebecca regina reginald rekha
    rene renee rex rhonda ricardo richard rick ricky rita rob robert roberta roberto robin robyn rocky rodney roger
    roland ron ronald ronnie rosa rosalie rosalind rosanne rose rosemary ross roxanne roy ruben ruby rufus russell ruth
    ryan sabrina sadie sally salvador sam samantha samir samuel sandra sandy sanjay sara sarah saul sean sebastian
    serena sergio seth shane shannon sharon shaun shawn sheila shelby sheldon shelley shelly sherman sherri sherry
    sheryl shirley sidney sierra silvia simon simone sofia sonia sonja sonya sophia sophie spencer stacey stacy stanley
    stefan stella stephanie stephen steve steven stuart sue summer sunita susan susanna susie suzanne svetlana sydney
    sylvia tabitha tamara tammy tanya tara tariq tasha taylor ted teresa teri terrance terrence terri terry thelma
    theodore theresa thomas tiffany tim timothy tina todd tom tommy toni tony tonya tracey traci tracy travis trent
    trevor trisha troy tyler tyrone ursula valerie vanessa vera verna vernon veronica vicki vickie vicky victor victoria
    vijay vikram vincent viola violet virginia vivian wade wallace walter wanda warren wayne wendell wendy wesley
    whitney wilbur wilfred will willard william willie wilma winifred winston xavier yasmin yolanda yusuf yvette yvonne
    zachary zara zoe
"""
_SPANISH_FAMILY = """
    abad abascal acosta aguado aguayo aguero aguilar aguilera aguirre alarcon alba alcaide alcala alcantara alcaraz
    alcazar alfaro alfonso aliaga almagro almansa almeida alonso alvarado alvarez alvaro amador amaya amoros andrade
    andres andreu angulo antunez aparicio aragon arana aranda araujo arce arcos arenas arevalo arias ariza armas
    armengol arnaiz arribas arrieta arroyo artigas asensio atienza avila aviles ayala ayllon azcona aznar badia baena
    baeza ballester ballesteros banos barba barbero barcelo barragan barranco barreiro barrera barreto barrios barroso
    bastida bautista bayon becerra bejarano belda bello beltran benavente benavides benitez benito bermejo bermudez
    bernal bernat berrocal betancor blanch blanco blasco blazquez bolanos bonet bonilla borras borrego bosch botella
    bravo briones bueno burgos bustamante bustos caballero cabanas cabello cabeza cabrera caceres cadenas calderon
    calero calleja calvet calvo camacho camara campos canales cano canovas cantero canto carbajo carballo carbonell
    cardenas cardona carmona caro carrasco carreno carrera carreras carrero carretero carrillo carrion carvajal casado
    casals casanova casanovas casares casas cases castaneda castano castellano castellanos castello castillo castro
    catalan cazorla ceballos centeno cerezo cervantes cervera chacon chamorro chavez checa chico cid cisneros clemente
    cobo colomer conde contreras corbacho cordero cordoba cornejo coronado corral correa cortes cortina costa crespo
    criado cruz cuadrado cuenca cuervo cuesta cueto cuevas davila delgado diaz diego diez dominguez donoso duarte duenas
    duran echevarria echeverria egea elias elizalde enriquez escalona escobar escribano escudero espada esparza espejo
    espinosa espinoza esteban esteve estevez estrada exposito fajardo falcon farre feijoo felipe fernandez ferrandiz
    ferrando ferreira ferrer ferrero figueras figueroa flores florez folch fonseca font franco frias fuentes fuster
    gabarri galan galiano galindo gallardo gallego gallegos galvan galvez gamez garay garces garcia garrido garriga
    garzon gascon gil gilabert gimenez gimeno giner giraldo girones godoy gomez gomis gonzalez gonzalo gordillo gracia
    grande grau guardiola guerra guerrero guevara guijarro guillen guirado gutierrez guzman haro heras heredia hermida
    hernandez hernando herranz herrera herrero herreros hidalgo higueras hinojosa hoyos huertas hurtado ibanez ibarra
    iglesias infante iniesta izquierdo jaen jara jaramillo jerez jimenez jimeno jorda jordan juan juarez jurado lafuente
    lago lara larrea lasa laso leal ledesma leiva leon lerma linares llamas llopis llorens llorente lloret lobato lobo
    lopez lorenzo losada lozano lucas lucena luengo lujan luna luque macias madrid madrigal maestre malagon maldonado
    manrique mansilla manso manzano marco marcos marin marques marquez marrero marti martin martinez martos mas mata
    mateo mateos mateu matos maya mayoral medina mejia melero mena menacho mendez mendieta mendoza menendez merchan
    merino mesa miguel millan minguez mira miralles miranda miro molero molina molinero moll monge monreal montalvo
    montanes montenegro montero montes montesinos montiel montoya mora moral moraleda morales morcillo moreira moreno
    morera moron moya munoz mur murcia murillo muro nadal naranjo narvaez navarrete navarro navas negrin neira nevado
    nicolas nieto nino nogueira noguera nogues novoa nunez ocampo ocana ochoa olivares oliver olivera oliveras olivero
    olmedo olmo olmos ordonez orellana oropesa orozco orta ortega ortiz ortuno osorio osuna otero pacheco padilla padron
    palacio palacios palau palma palomares palomino palomo paniagua pantoja pardo paredes pareja parejo parra pascual
    pastor pavon paz pedraza pedrosa peinado pelaez peral perales peralta perea pereira perello perera perez peris
    pineda pinero pinilla pino pinol pinto pla plana planas plaza polo pomares ponce pons porcel porras portillo pozo
    prado prados prats prieto puente puentes puerta puig pujol pulido quesada quevedo quintana quintanilla quintero
    quiroga quiros rama ramirez ramon ramos raya real rebollo recio redondo reina requena revilla rey reyes riera rincon
    rio rios ripoll riquelme rius rivas rivera rivero robledo robles roca rocha roda rodas rodrigo rodriguez roig rojas
    rojo roldan roma roman romera romero romeu ros rosa rosado rosell rosello rossello rovira royo ruano rubio rueda
    rufo ruiz saavedra saez sagrera sainz sala salado salamanca salas salazar salcedo saldana salgado salguero salinas
    salmeron salvador samper sanabria sanchez sanchis sancho sandoval sanjuan sanmartin santamaria santana santiago
    santos sanz sarabia sarmiento sastre saura segovia segura seijo sellares sempere serna serra serrano serrat sevilla
    sevillano sierra silva silvestre simo simon sola solano soler solis soliva sordo soria soriano sosa sotelo soto
    suarez suero talavera tamayo tapia tarrega tejada tejedor tejero tello tena teruel tirado toledano toledo tomas
    toribio toro torralba torre torrecilla torrens torrent torres torrijos tortosa toscano trigo trillo trujillo tudela
    turrion ubeda ugarte urena uria uribe urrutia valbuena valcarcel valdes valdivia valencia valenzuela valera valero
    valle vallejo vallejos valles valls valverde vaquero varela vargas varona vasquez vazquez vega velasco velazquez
    velez ventura vera verdu verdugo vergara viana vicente victoria vidal viera vigo vila vilchez villa villalba
    villalobos villalonga villanueva villar villareal villarreal villegas villena vinas vivas vives yague yanes yanez
    yepes zabala zafra zambrano zamora zamorano zapata zaragoza zarate zavala zorrilla zurita
"""
_ENGLISH_FAMILY = """
    abbott abrams acevedo acosta adams adkins aguilar ahmed akhtar albright alexander ali allen allison alvarado alvarez
    andersen anderson andrews armstrong arnold ashton atkins atkinson austin avery ayala bailey baldwin ballard banerjee
    barker barnes barnett barrett barron barry bartlett barton bates bauer beasley beattie becker begum bennett benson
    bentley berg bernard bhatt blackburn blackwell blake blanchard blevins booker bowen bowers bowman boyd boyle
    bradford bradley bradshaw brady brennan brewer bridges briggs brock brooks browning bruce bryan bryant buchanan
    buckley burgess burke burnett burton byrd caldwell calhoun callahan cameron campbell campos cannon cardenas carey
    carlson carney carpenter carr carrillo carroll carson casey castaneda castillo castro chandler chang chapman charles
    chavez chen cheng choi chowdhury christensen christian chung churchill clark clarke clayton clements cochran cohen
    cole coleman collier collins combs compton conley connor conrad contreras conway cooke cooley cooper copeland cortez
    costello cox crawford cruz cummings cunningham curran curry curtis dalton daniel daniels daugherty davenport
    davidson davies davis dawson decker delacruz delgado deluca dempsey desai diaz dickerson dickson dillon dixon dodson
    doe doherty dominguez donaldson donovan dorsey dougherty douglas downs doyle drake dudley duffy duncan dunlap dunn
    duran durham dyer eaton edwards elliott ellis ellison emerson english erickson espinoza estes estrada evans everett
    ewing farrell faulkner ferguson fernandez ferrell fields figueroa finch finley fischer fitzgerald fitzpatrick
    fleming fletcher flores flynn foley forbes foreman fowler francis franco frazier frederick freeman fuentes fuller
    gallagher gallegos galvan garcia gardner garner garrett garrison garza gates gentry george gibbs gibson gilbert gill
    gillespie gilmore glover goldberg goldman goldstein gomez gonzales gonzalez goodman goodwin gordon gould graham
    greenberg greene greer gregory griffin griffith grimes gross guerra guerrero gupta gutierrez guzman hahn haley
    hamilton hammond hampton hancock hanson hardin harding hardy harmon harper harrell harrington harris harrison
    hartman harvey hassan hatfield hayden hayes haynes hebert henderson hendricks hendrix henry hensley henson herman
    hernandez herrera herring hess hester hickman hicks higgins hinton hobbs hodge hodges hoffman hogan holden holder
    holland holloway holt hood hooper hoover hopkins horton houston howard howe howell huang hubbard huber hudson huerta
    huff huffman hughes hull humphrey hussain hutchinson huynh ibarra ingram irwin iyer jackson jacobs jacobson james
    jarvis jefferson jenkins jennings jensen jimenez johns johnson johnston jones jordan joseph joyce juarez kane kapoor
    katz kaufman kaur keith keller kelley kelly kemp kennedy kent kerr khan kim kirby kirk klein kline knapp knox koch
    kramer kumar lam lamb lambert landry lang lara larsen larson lawrence lawson le leblanc leon leonard lester levine
    levy lewin lewis lin lindsey little liu livingston lloyd logan lopez lowe lowery lozano lucas lucero luna lutz lynch
    lynn lyons macdonald macias mack madden maddox mahoney maldonado malone mann manning marquez marshall martin
    martinez mathews mathis matthews maxwell maynard mayo mays mcbride mccall mccann mccarthy mccarty mcclain mcclure
    mcconnell mccormick mccoy mcdaniel mcdonald mcdowell mcfarland mcgee mcgrath mcguire mcintosh mcintyre mckay mckee
    mckenzie mckinney mcknight mclaughlin mclean mcmahon mcmillan mcneil mcpherson meadows medina mehta mejia melendez
    melton mendez mendoza mercado merritt meyer meyers meza michael middleton miranda mitchell molina monroe montgomery
    montoya moody mora morales moran moreau moreno morgan morris morrison morrow morse morton moses mosley moyer mueller
    mukherjee mullen mullins munoz murillo murphy murray myers nair nash navarro neal nelson newman newton nguyen
    nichols nicholson nielsen nixon nolan norman norris norton nunez obrien ochoa oconnell oconnor odom odonnell okafor
    okeefe okoye olsen olson oneal oneill orozco orr ortega ortiz osborn osborne owen owens pace pacheco padilla palmer
    park parker parks parsons patel patterson patton paul payne pearson peck pena pennington peralta perez perkins perry
    peters petersen peterson petty pham phelps phillips pierce pineda pittman pitts pollard pope porter potter powell
    pratt preston prince proctor pruitt pugh quinn ramirez ramos ramsey randall randolph rangel rao rasmussen ray
    raymond reddy reeves reid reilly reyes reynolds rhodes richard richards richardson richmond riggs riley rios rivas
    rivera rivers roach robbins roberson roberts robertson robinson robles rocha rodgers rodriguez rogers rojas rollins
    roman romero rosales rosario rosen rosenberg rosenthal ross roth rowe rowland roy rubio ruiz russell russo ryan
    salas salazar salinas sampson sanchez sanders sandoval sanford santana santiago santos saunders savage sawyer
    schaefer schmidt schneider schroeder schultz schwartz scott sellers serrano sexton shaffer shah shannon sharma shaw
    shelton shepard sheppard sherman shields short silva simmons simon simpson sims sinclair singh singleton skinner
    sloan smith snyder solis solomon sosa soto spears spence spencer stafford stanley stanton stark steele stein
    stephens stephenson stevens stevenson stewart stokes stone stout strickland suarez sullivan summers sutton swanson
    sweeney sweet sykes tanner tate taylor terrell terry thomas thompson thomson thornton todd torres townsend tran
    travis trevino trujillo tucker turner tyler underwood valdez valencia valentine valenzuela vance vang vargas vasquez
    vaughan vaughn vazquez vega velasquez velazquez velez villa villanueva villarreal vincent vinson wade wagner walker
    wallace waller walls walsh walter walters walton wang ward ware warner warren washington waters watkins watson watts
    weaver webb weber webster weeks weiss welch wells werner west wheeler whitaker whitehead whitley whitney wiggins
    wilcox wilder wiley wilkerson wilkins wilkinson williams williamson willis wilson winters wolfe wong woodard woods
    woodward wright wu wyatt xu yang yates yoder york zamora zhang zhao zhou ziegler zimmerman
"""
# Words that stand with a capital after a title, a role or a word for a patient and are no names: what notes call
# services, tests, parts of notes and findings, how sentences begin, abbreviations of fields.
_SPANISH_WORDS = """
    a abdomen aceptable acompanada acompanado acude acudio adecuada adecuado adjunta adjunto admision afebril aguda
    agudo ahora al alergia alergias alergica alergico alta ambulatoria ambulatorio ambulatorios analisis analitica
    anamnesis anciana anciano anestesia angina ante antecedentes anterior antes apellido apellidos area artritis
    asintomatica asintomatico asistencia asistencial asma aspirina atencion atentamente ausencia autonoma autonomo
    auxiliar av avda avenida ayer ayuda bajo biopsia buen buena cabecera cada calle cama cancer cardiaca cardiaco
    carretera caso caucasica caucasico causa centro cervicalgia cesarea cirugia cita ciudad civil clinica clinico codigo
    col colaborador colaboradora colegiada colegiado color comenta como completa completo con conocida conocido
    consciente consentimiento consulta consultas consultorio contacto control controles correo covid critico criticos
    ctra cual cuando cuidador cuidadora cuidados curso cuya cuyo dada dado datos de debido debut decide del demencia
    dental departamento derecha derecho derivada derivado desde despues diabetes diabetica diabetico diagnosticada
    diagnosticado diagnostico dice digestivo direccion director directora distrito docente documento dolor domicilio
    domingo donde dos durante ecografia edad ejercicio el elaborado electronico ella ello embarazada embarazadas
    embarazo emergencias empieza empresa en enferma enfermedad enfermera enfermeria enfermero enfermo entonces entre
    epilepsia episodio equipo era es escolar especialidad especialista espera esta estable estado estancia este
    estudiante estudio estudios evaluacion evolucion evoluciona ex exfumador exfumadora exitus expediente explica
    exploracion externa externas externo extrahospitalaria facultativa facultativo fallecida fallecido familia familiar
    familiares farmacia fdo febril fecha femenina femenino fiebre fin firma firmado fisica fisico fisio fue fumador
    fumadora funcion general gerencia geriatrico gestante grado gran grave gripe grupo ha habitacion habitual hace hasta
    hay hemos heparina hepatica hepatico herida hija hijo hijos hiperfrecuentador hipertensa hipertension hipertenso
    historia historial hombre hospital hospitalaria hospitalario hospitalizacion hospitalizada hospitalizado hoy ictus
    id identificacion implante inconsciente indica infantil infeccion infecciosas infecciosos informa informado informe
    informes ingresa ingresada ingresado ingreso inicia inicial inicio inmediato inmunodeprimida inmunodeprimido
    instituto insulina intensiva intensivista intensivos interna internista interno intervencion intervenida intervenido
    izquierda izquierdo jefa jefatura jefe joven jueves juicio juzgado la laboratorio lactante las le lepra les lesion
    leve libre llega lo localidad los luego lugar lumbalgia lunes lupus madre mal mala malestar mama manana marido
    martes masculina masculino materno maxilofacial mayor medica medicacion medicina medico medicos medio mejor mejoria
    menor mental mes metadona mi microbiologia mientras miercoles migrana ministerio mixta moderada moderado motivo
    mover movil muestra mujer mujeres municipio muy nacida nacido nacimiento nacionalidad natural naturaleza nefrologia
    neonatal neonato neumonia ni niega nif nina ninguna ninguno nino no nolotil nombre nombres normal nota notas nuclear
    nuestra nuestro nueva nuevo numero obesa obesidad obeso obstetricia ocular ocupacion ocupacional oftalmica once
    oncologica oncologico operada operado oral orientada orientado origen otra otras otro otros paciente pacientes
    padece padre padres pais palabras paliativa paliativo paliativos para paracetamol parada pareja parentesco parto
    paseo paso patologica pediatra pediatrica pediatrico pendiente permanece pero persona personal personales peso piso
    placa plan planta plastica poblacion policia policlinica poligono por portador portadora posible postal posterior
    postoperada postoperado postoperatorio practicante precisa presenta presentaba preventiva previa previo primaria
    primario primera primero procede procedente procedimiento procedimientos profesion profesional programada pronostico
    protocolo provincia prueba pruebas psiquiatrico publica pulmonar pza que queda quemados quien quimioterapia
    quirofano quirurgico racial radica radiografia radiologo rayos reaccion realiza reanimacion recibe recien reciente
    recomienda reconstructiva referencia refiere region registro rehabilitacion religion remite remitente renal
    residencia residente resonancia respiratoria respiratorio responsable resto resultado resultados revisado revision
    rx sabado sabe sala salud saludo saludos sangre sanitaria sanitario sanitarios se sector secundaria secundario
    seguimiento segun segunda segundo seguridad seguro semana sepsis servicio servicios sexo si sida siempre sin
    sintomas sintrom sinusal sistema sobre social solicita solicitante solo soltera soltero somete son soplo su
    subjetivo superior supervisor supervisora sus tabaquismo tal tambien tarde tarjeta tecnica tecnico telefono tension
    terapeuta terapia test tia tiene tipo titular titulo toma toracica torax trabajador trabajadora tras trasladada
    trasladado traslado trasplantada trasplantado tratada tratado tratamiento tratante traumatismo tres tumor turno
    tutor tutora ucias ultima ultimo un una unidad unidades universidad universitario urb urgencia urgencias urgente
    urologia uso usted usuaria usuario va vacunada vacunado valora valoracion valorado varon varones vascular vertigo
    vespertino vez vida viene viernes virus visita visitas visto viuda viudo vive vivienda vivo vomitos y ya zona
"""
_ENGLISH_WORDS = """
    a abdominal able about above abuse access according active activity acute address adenocarcinoma admission
    admissions admit admits admitted advanced adverse advised affairs african after again age aged aging agreed alert
    all allergen allergic allergies allergy also alternative although ambulance ambulatory american amount an
    anaesthesia and anemia anesthesia anesthetic angiography another antibiotic antibiotics any aortic appears
    application appointment appointments approach appropriate arabic are area arrived as asian aspirin assessed
    assessment assistant assisted associate at attending aware away baby back background based be been before began
    behavior behavioral being below better between bilateral biometric biopsy birth black blood bluetooth board body
    both breast breathing by bypass caller came can cancer cannot cardiac care carepartner case catheter caucasian cell
    cells center central centre certified cervical change changes charge chart check chemo chemotherapy chest child
    children chinese chronic city clinic clinical clinician clinicians code cold colorectal coma come comes comfort
    comfortable committee community complains complaint complaints complete completed complex compliance concern
    concerned concerns condition confirmed confused congenital consent consult consultation consults contact continue
    continued continues control coordinator copd coronary cough could counsel counseling counselor county course cranial
    critical cultural culture current currently daily data date day days deceased decision declined decompensated
    delivered delivery demographics denied denies dental department dependent describes description details developed
    developing development device devices diabetes diabetic diagnosed diagnosis diagnostic did died diet dietary
    difficulty direct disability discharge discharged disclosed discussed disease disorder distress division do does
    doing done donor dosage dose drug due during each early eating echo edema education elderly elevated eligible email
    emergency emotional employee employer encounter end ended endorses endoscopy english enrolled entered enters entry
    environment episode er error etc ethnicity european evaluated evaluation event every evidence exam examination
    examined exercise exhibits existing experience experienced experiences expired explained exposed exposure expressed
    extremity eye eyes facility failed failure fall falls family father feeling feels felt female fetal fever few
    findings first fluid follow followed following follows for former forms found friday from full function gait gastric
    gave gender general generally generation genetic genetics given gives global goal goals going good group guardian
    guidelines gynecologic had has have having he head headache health healthcare heart height help hepatic hepatitis
    her here high him his hispanic history home homeless hospice hospital hospitals hour house housing how however
    husband hypertension hypertensive id identification identified identifier identity if imaging immune
    immunocompromised implant improved in inc incident include including increased independent indicates individual
    infant infection infectious information informed initial initially injuries injury inpatient instructed instructions
    insulin insurance insurer intake intensive intern internal international intervention interventional interview into
    intubated iron is issues it its jewish joint just key knee known korean lab laboratory language last late later law
    left less level levels liaison licensed life like likely limited line list little liver living local location long
    low lower lung lupus made mailing main major malaise male man managed management manager many marital married
    maternal maternity may mean measles measures medicaid medical medicare medication medications medicine member men
    mental met midwife mild military minor minors missed mobility moderate monday monitor monitored month months morbid
    morbidly more most mother motor moved multiple muscular muslim must my myocardial name named names national native
    neck negative neonatal neonate nervous neuro neurologic new newborn next night no non none nor normal not note noted
    notes notice notified now number nurse nursery nurses nursing nutrition obese obesity observation observed
    obstetrics occupation occupational of off office officer often old older on oncall once oncologic one only open
    operated operating operation operative or oral order ordered ordering orders organ oriented origin orthopedic other
    others our out outcome outcomes outpatient over overall oxygen pain palliative pancreatic parent parents part
    partner past patient patients pediatric peds people per perinatal period persistent person personal phone physical
    physician physicians place placed plan plans pneumonia point policy population portal position positive possible
    post postoperative postpartum practice practitioner pregnancy pregnant preop present presented presenting presents
    pressure prevention preventive previous previously primary prior privacy private pro problem problems procedure
    procedures process professional prognosis program progress prostate protocol provided provider providers psych
    psychiatric public pulmonary pulse quality questions race radiation rapid rash reaction readmitted received receives
    recent recently recommend recommendation recommendations recommended recommends record records recovered recovery
    rectal referral referred reflexes refused refuses regarding regards regional registered registration registry rehab
    rehabilitation related relationship relative relatives religion remains renal report reported reports request
    requested requests required requires research resident residents resolved respiratory response rest result results
    return returned returns review reviewed rheumatic right risk room routine russian safety said same satisfaction
    saturday say says scan scans school score screen screening second secondary see seeking seen self sensation sent
    sepsis septic serial serum service services several severe sex sexual she should shows side signed signs since
    sincerely single site sleep smoker smoking social some source special specialist specialty specific spinal spine
    spoke sport sports spouse stable staff stage standard started state stated states status stay stem step still stool
    street strength stroke student studies study subject subjective submitted successful suffered suffering suffers
    summary sunday supervisor support surgeon surgery surgical symptom symptoms system systems takes taking team
    technician telemetry tells temp tertiary test tested testing tests than thank thanks that the their them then
    therapies therapist therapy there these they third this thoracic those though thought through thursday thyroid time
    title to today told tone took topic total toxicology trace training transfer transferred transfusion transplant
    transplanted transport trauma traumatic treated treatment triage trial tuesday tumor two type ultrasound under
    undergoes undergoing underwent unit units university unknown unresponsive until up upon upper urgent urinary urine
    use used user uses using usual vaccine vascular ventilator verbal verbalized verbalizes very veteran veterans via
    vietnamese view viral virtual virus visit visited visits vital vitals volume vs walked wants was we weakness
    wednesday week weeks weight well were what when where which while who whose wife will with within without woman
    women work worker workers works worsening would wound xray year years yes yesterday you young younger your zip
"""
# Names that `common_names` leaves out, since in small letters they are the patient's too: too common after a role.
_BOTH = """
    angeles angulo angustias art bill cadenas camara canales chase clara clay dan dawn domingo don ella english faith
    flora gene general ginger grace grant guy hope iris izquierdo joy lisa little luz mark maxima miles nino norm pareja
    pat pearl penny plana planas ray rob ruby sala segundo sola sordo summer weeks will
"""
_ABBREVIATIONS = """
    acls acv acvi am ap asa atentamente av ava avc avda avenida bid bls bmi bp bsn ca cad cama carretera cc ccu chf cias
    cip cipa civil ckd cm co col colegiado contacto copd correos cp cpr crna ct ctra cuerpo cxr dds dea dm dmd dnar dni
    dnp dnr do dob dod don dona dr dra dres drs due dx ea ecg ecog ed eeg eeuu ekg electronico electronicos email
    empresa enf ent epoc er erc esq esrd etc expediente facp facs fax fc fdo forense fr frcs fx gcs gi gu gyn ha
    habitacion hbv hcv hiv hr hta htn hx iam icc icu iga igg igm ii iii im imc individuo individuos irc itu iv ivu jr kg
    legal leishmaniasis lic lpn lvn mail mbbs md mg mir ml mm movil mph mr mri mrn mrs ms msn nacionalidad nass ncol nhc
    nhs nicu nie nif no np npi npo num nuss nyha ob obgyn ocupacion op or orl pa pac pacu parentesco paseo pet phd picu
    pm po poligono postal presentamos prn prof profesion profesor profesora professor pt pte pza qid quemados ref
    religion rh rm rmn rn rnm rr rx saludo saludos sc sr sra srta ssn sx ta tac tc tel tfno tid tlf tx uce uci ucsi uk
    umi upp urb us usa uti uvi vhb vhc vih vs yo
"""


def _words(*texts: str) -> frozenset[str]:
    return frozenset(fold(word) for text in texts for word in text.split())


_GIVEN = _words(_SPANISH_GIVEN, _ENGLISH_GIVEN)
_FAMILY = _words(_SPANISH_FAMILY, _ENGLISH_FAMILY)
_ALSO_WORDS = _words(_BOTH)
_LANGUAGE = _words(_SPANISH_WORDS, _ENGLISH_WORDS, _ABBREVIATIONS) - _ALSO_WORDS
_CLASSES = {"title", "honorific", "kin", "hospital", "contact", "identifier", "weekday"}  # of `features.lexicons`
_PLACES = {"province", "state", "country", "place", "street", "month"}
_LISTED = frozenset(("given", "family"))  # kinds of words that are names and nothing else
_PARTICLES = _words(
    "de la las los el del da das do dos di du le van von der den ten ter bin ibn al san santa st y i e d"
)
# How words of the language end that are hardly names: sciences, diseases, procedures, adjectives, adverbs.
_ENDINGS = re.compile(
    r"(?:cirugias?|log[iíy]as?|logicals?|log[oa]s?|logists?|iatr[ií]as?|iatrics?|iatra|iatrists?|graf[ií]as?|graphy|grams?|gramas?"
    r"|scop[iy]as?|scopies|tom[iy]as?|ect[oó]mi[ao]s?|plast[iy]as?|pat[ií]as?|pathy|terapias?|therap(?:y|ist|ists|eutics?)"
    r"|itis|osis|emias?|uria|algias?|cion|ciones|sion|siones|tion|tions|sions|dades|[iea]dad|mientos?|mente|ness"
    r"|ments?|ities|ically|ivity|ancy|ency|ology|metria|metry|oma|omas|gesics?|tensiv[oa]s?|tensive|logic[oa]s?"
    r"|tic[oa]s?|tiv[oa]s?|ístic[oa]s?|[ou]ri[oa]s|ectad[oa]s?|izad[oa]s?|ized|abl[ey]s?|ibles?|ulos[oa]|micin[ao]?|cilin[ao]?"
    r"|mab|mabs|tinib|statin[ao]?|oxacino?|prazole?|sartan|olol|idine|azole|avir|umab|ximab|ceae)$"
)
_SHORTEST, _ACRONYM = 2, 4  # letters at most
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|,")


@lru_cache(maxsize=1 << 14)
def kind_of(word: str) -> str:
    """What a word with a capital is.

    Returns:
        "given", "family" for names, "word" of the language, "both", "particle", "initial", "acronym", else "unknown".

    Example:
        >>> [kind_of(word) for word in ("Marta", "Rodríguez", "Denies", "White", "Cardiología", "de")]
        ['given', 'family', 'word', 'both', 'word', 'particle']
        >>> [kind_of(word) for word in ("Quill", "SNC", "IgG", "J")]
        ['unknown', 'acronym', 'word', 'initial']
    """
    name, classes = fold(word), set(word_classes(word))
    if name in _PARTICLES and (len(name) > 1 or word.islower()):
        return "particle"
    if len(name) < _SHORTEST:
        return "initial"
    if name in _ALSO_WORDS:
        return "both"
    mixed = word[-1].isupper() and not word.isupper()  # "IgG"
    if name in _LANGUAGE or classes & _CLASSES or mixed:
        return "word"
    return _name_kind(word, name, is_both=bool(classes & _PLACES))


def _name_kind(word: str, name: str, *, is_both: bool) -> str:
    """The kind of a word that no list of the language has, folded too."""
    if is_both or (is_word(name) and name not in _GIVEN):
        return "both"
    if name in _GIVEN or name in _FAMILY:
        return "family" if name in _FAMILY else "given"
    if _ENDINGS.search(name):
        return "word"
    return "acronym" if word.isupper() and len(word) <= _ACRONYM else "unknown"


def _kinds(value: str) -> list[str]:
    """The kinds of a value's words; a comma's is ",". It is empty where the value cannot be a name whatever the cue."""
    words = _WORD.findall(value)
    kinds = ["," if word == "," else kind_of(word) for word in words]
    if not kinds or "word" in kinds or kinds[-1] in ("particle", ","):
        return []
    if "acronym" in kinds and any(not word.isupper() for word in words if len(word) > 1):
        return []  # "Quill MIR"
    if "," in kinds:
        comma = kinds.index(",")
        if "given" in kinds[:comma] or kinds[comma + 1] != "given":
            return []  # "Marta Quill, Tawn"
    return kinds


def is_after_title(value: str) -> bool:
    """Whether what comes after a title can be a name: it holds no word of the language.

    Example:
        >>> [is_after_title(value) for value in ("Marta de la Quill", "Marta de", "White", "Visit Notes", "J. Quill")]
        [True, False, True, False, True]
        >>> [is_after_title(value) for value in ("Quill, Marta", "Quill, Tawn", "Quill MIR")]
        [True, False, False]
    """
    kinds = _kinds(value)
    return bool(kinds) and (kinds != ["initial"] or value.endswith("."))


def is_after_word(value: str) -> bool:
    """Whether what comes after a word that more often stands before a word of the language is a name all the same.

    One word that is both, such as "White", is not enough but for a given name, nor are initials, nor a short word in
    capitals. Where all of it is in capitals, the lists have one of its words: there any word can follow.

    Example:
        >>> [is_after_word(value) for value in ("Marta", "White", "Rose White", "Quill", "SNC", "J. Quill", "A.")]
        [True, False, True, True, False, True, False]
    """
    kinds = [kind for kind in _kinds(value) if kind not in ("particle", ",")]
    if value.isupper() and not _LISTED & set(kinds):
        return False
    words = [kind for kind in kinds if kind != "initial"]
    return len(words) > 1 or words == ["unknown"] or (bool(words) and (bool(_LISTED & set(words)) or len(kinds) > 1))


def is_known(value: str) -> bool:
    """Whether it is a name of which the lists have a word that is nothing else.

    Example:
        >>> is_known("Orla Quill"), is_known("Marta Quill"), is_known("White")
        (False, True, False)
    """
    return not _LISTED.isdisjoint(_kinds(value))


def is_whole(value: str) -> bool:
    """Whether it is a name that begins with a known given name, or of two words or more of which the lists have one.

    Example:
        >>> is_whole("Marta Quill"), is_whole("Quill"), is_whole("Quill Rodríguez"), is_whole("Rodríguez")
        (True, False, True, False)
    """
    kinds = [kind for kind in _kinds(value) if kind not in ("particle", "initial", ",")]
    return kinds[:1] == ["given"] or (len(kinds) > 1 and not _LISTED.isdisjoint(kinds))
