"""Given names to choose from, as tables: full names for Spanish, and pet names that English lists have among theirs."""

from __future__ import annotations

_SPANISH_FEMALE = """
    Adela Adriana Aitana Alba Alejandra Alicia Amalia Amelia Amparo Ana Andrea Antonia Araceli Ariadna Aurora Ángela
    Bárbara Beatriz Begoña Belén Berta Blanca
    Camila Candela Carla Carlota Carmen Carolina Catalina Cecilia Celia Clara Claudia Concepción Consuelo Cristina
    Daniela Débora Delia Diana Dolores
    Elena Elisa Elvira Emilia Emma Encarnación Esperanza Estefanía Estela Esther Eugenia Eulalia Eva
    Fabiola Fátima Felisa Fernanda Francisca
    Gabriela Gema Gloria Graciela Guadalupe
    Inés Inmaculada Irene Iris Irma Isabel
    Jacinta Jimena Josefa Josefina Juana Judith Julia Juliana Julieta
    Lara Laura Leonor Leticia Lidia Lorena Lourdes Lucía Luisa
    Macarena Magdalena Manuela Marcela Margarita María Mariana Marina Marta Martina Matilde Mercedes Micaela Milagros
    Miriam Mónica Montserrat
    Nadia Natalia Nerea Nieves Noelia Noemí Nuria
    Ofelia Olga Olivia
    Paloma Patricia Paula Paulina Piedad Pilar Purificación
    Raquel Rebeca Regina Remedios Rita Rocío Rosa Rosalía Rosario Ruth
    Sabina Sandra Sara Silvia Sofía Soledad Sonia Soraya Susana
    Tamara Tania Tatiana Teresa Tomasa
    Valentina Valeria Vanesa Verónica Vicenta Victoria Violeta Virginia
"""
_SPANISH_MALE = """
    Aarón Abel Adolfo Adrián Agustín Alberto Alejandro Alfonso Alfredo Álvaro Andrés Antonio Arturo Augusto Aurelio
    Bartolomé Benito Benjamín Bernardo Bruno
    Camilo Carlos Carmelo César Clemente Claudio Cristian Cristóbal
    Damián Daniel Darío David Diego Domingo
    Eduardo Elías Eloy Emilio Enrique Ernesto Esteban Eugenio
    Fabián Federico Felipe Félix Fermín Fernando Fidel Francisco
    Gabriel Gaspar Gerardo Germán Gonzalo Gregorio Guillermo Gustavo
    Ignacio Isaac Isidro Ismael Iván
    Jacinto Jacobo Jaime Javier Jerónimo Joaquín Joel Jorge José Juan Julián Julio
    Leandro Leonardo Leopoldo Lorenzo Lucas Luciano Luis
    Manuel Marcelo Marcos Mariano Mario Martín Mateo Matías Mauricio Miguel Moisés
    Narciso Néstor Nicolás Norberto
    Octavio Omar Orlando Óscar
    Pablo Patricio Pedro Plácido
    Rafael Raimundo Ramiro Ramón Raúl Ricardo Roberto Rodolfo Rodrigo Rogelio Román Rubén
    Salvador Samuel Santiago Saúl Sebastián Sergio Simón
    Tadeo Teodoro Timoteo Tomás
    Valentín Valerio Vicente Víctor
"""
SPANISH_FEMALE, SPANISH_MALE = (tuple(sorted(names.split())) for names in (_SPANISH_FEMALE, _SPANISH_MALE))
"""Given names of Spain that people of all ages have, none of them a pet name."""

_ENGLISH_PET_NAMES = """
    abby allie andy angie annie barb becky ben bess beth betsy betty bill billy bob bobbie bobby brad brandi brandy
    bud candy carrie cassie cathy charlie cheri chris chrissy christie christy chuck cindy clay cliff connie dan
    danny dave deb debbie don donnie doug dottie drew ed eddie ellie frankie fred gabe ginger ginny greg gregg gus
    hank jackie jake jamie jan janie jeannie jeff jen jenny jerry jess jessie jim jimmy jo jodi jodie jody joe joey
    johnny jon joni joy judy kari kathy katie kay kelli kellie ken kenny kerri kim kristi kristie kristy larry lenny
    liz lonnie maggie mandy margie matt max meg mickey mike mindy missy mitch molly nan nate nick nikki pam pat
    patty peggy penny pete phil polly ralph randi randy ray rick rickey ricky rob robbie rob ron ronnie sally sam
    sammy sandy sheri sherri sherry stacie stacy steph steve sue susie suzy tammie tammy ted terri terry tim tina
    tom tommy toni tony traci tracie tricia trish val vicki vickie vince wendy will willie zach
"""
ENGLISH_PET_NAMES = frozenset(_ENGLISH_PET_NAMES.split())
"""Pet names in small letters."""

_ODD_FAMILY_NAMES = """
    abril amo amor bajo barriga bas bello bueno cabeza cal caro coca hoz luz malo manso mas mate mayo pera pi poza
"""
ODD_FAMILY_NAMES = frozenset(_ODD_FAMILY_NAMES.split())
"""Spanish family names, folded, that a reader takes for another word first."""
