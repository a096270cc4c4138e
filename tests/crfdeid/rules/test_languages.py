"""Rules from the packs of Portuguese, Italian and Dutch: what they find in invented sentences, and what they leave."""

import re
from functools import cache

import pytest

from crfdeid.documents import LabelledSentence
from crfdeid.pipeline import Deidentifier
from crfdeid.rules import RulesSettings, RulesTagger
from crfdeid.rules.matcher import rules_for
from crfdeid.rules.rule import Rule
from features.sentences import split_sentences
from features.tokens import Sentence

KINDS = {
    **dict.fromkeys(("NOMBRE_SUJETO_ASISTENCIA", "FAMILIARES_SUJETO_ASISTENCIA"), "PATIENT"),
    **dict.fromkeys(("ORGANIZATION", "INSTITUCION"), "HOSPITAL"),
    **dict.fromkeys(("CITY", "ZIP", "STREET"), "LOCATION"),
    **dict.fromkeys(("MEDICALRECORD", "ID_SUJETO_ASISTENCIA", "SSN", "IDNUM"), "ID"),
    "NOMBRE_PERSONAL_SANITARIO": "DOCTOR",
    "FAX": "PHONE",
}

PORTUGUESE = """
O paciente {PATIENT:Abel Tavares} foi internado ontem.
A utente {PATIENT:Zélia Quilha} refere dores no joelho.
Nome: {PATIENT:Orlanda da Quinta Zann}
Nome do paciente: {PATIENT:Joaquim dos Santos Quill}
Sra. {PATIENT:Marta Quill}, compareceu com a filha.
Sr. {PATIENT:Quilhares} nega febre.
D. {PATIENT:Rosa Tawn} mora sozinha.
Doente chamada {PATIENT:Inês Marsh}, sem alergias.
A filha {PATIENT:Beatriz Quill} acompanha a doente.
Marido: {PATIENT:Nuno Tawn}
Avaliada pelo Dr. {DOCTOR:Tiago Quilhão}.
Dra. {DOCTOR:Ana da Costa Zann} assina o laudo.
Encaminhado por {DOCTOR:Luciana Quilho}.
Médico responsável: {DOCTOR:Caio Marsh}
Enf. {DOCTOR:Priscila Tawn} administrou a dose.
Atenciosamente, {DOCTOR:Rui Quilheiro}
Cardiologista {DOCTOR:Heitor Zann} de plantão.
Profa. Dra. {DOCTOR:Sílvia Quill}
Internada no {HOSPITAL:Hospital São Lucas}.
Transferido para a {HOSPITAL:Clínica Santa Marta}.
Seguido no {HOSPITAL:Hospital de Braga}.
Consulta na {HOSPITAL:Maternidade de Campinas}.
Atendida na {HOSPITAL:UPA de Sorocaba}.
Estudou na {HOSPITAL:Universidade de Coimbra}.
Natural de {LOCATION:Coimbra}, viúva.
Reside em {LOCATION:São José dos Campos} com o filho.
Mora em {LOCATION:Campinas}.
{LOCATION:Rua das Quilhas, 123}
Morada: {LOCATION:Av. Tawn, n.º 45, 3.º Esq}
{LOCATION:Travessa do Quill, 12, apto 34}
{LOCATION:01310-100} {LOCATION:São Paulo}
{LOCATION:4000-123} {LOCATION:Porto}
CEP {LOCATION:13083-970}
Telefone: {PHONE:(11) 95550-0134}
Tel.: {PHONE:+351 215 550 134}
Telemóvel {PHONE:915 550 134}
Celular: {PHONE:11 95550-0134}
Prontuário: {ID:4822134}
Processo n.º {ID:48221344}
Número de utente: {ID:482213448}
CPF: {ID:111.444.777-35}
Cadastro {ID:482.213.448-26}, sem alergias.
Valor 482.213.448-27 sem unidade.
CNS {ID:700000000000005}
NIF: {ID:248221344}
NISS {ID:11482213448}
RG: {ID:48.221.344-8}
Alta em {DATE:12 de março de 2019}.
Nascido em {DATE:03/04/1962}.
Data de nascimento: {DATE:3-4-1962}
Consulta terça-feira, {DATE:4 de março de 2014}.
Exame de {DATE:fevereiro de 2018}.
Operado a {DATE:5 de Outubro de 2011}.
Idade: {AGE:93 anos}
Mulher de {AGE:94 anos} com tosse.
Mãe falecida aos {AGE:97 anos}.
Homem, {AGE:93}, fumador.
Tem {AGE:noventa e três anos}.
Paciente {AGE:nonagenária}.
Completou {AGE:91 anos}.
O paciente nega febre e tosse.
Paciente Masculino em bom estado geral.
Médico assistente avisado da alta.
Doente em Cuidados Intensivos desde ontem.
Dr. da urgência informado.
TA 120/94, FC 94 bpm.
Há 94 dias com dor.
Solicitado Ecocardiograma e Hemograma.
Sem alta prevista; rua sem saída.
Avaliado por Cardiologia e Neurologia.
Hospital de Dia às terças.
Filha presente na consulta.
Unidade de Terapia Intensiva.
Nome: desconhecido
"""

ITALIAN = """
Il paziente {PATIENT:Fabio Quillani} lamenta dolore toracico.
La sig.ra {PATIENT:Orla Zannini} è giunta in ambulanza.
Sig. {PATIENT:Marco De Quillis}, in buone condizioni.
Cognome e nome: {PATIENT:Tawnelli Giulia}
Nome: {PATIENT:Abele Quilli}
Gent.ma sig.ra {PATIENT:Chiara Marshi}
Paz. {PATIENT:Loredana D'Quilla} vigile.
Assistito: {PATIENT:Dino Zannoni}
Il figlio {PATIENT:Luca Quilloni} è stato avvisato.
Moglie: {PATIENT:Teresa Tawnini}
Marito {PATIENT:Bruno Quilletti} presente al colloquio.
Dott. {DOCTOR:Riccardo Quillardi} di turno.
Dott.ssa {DOCTOR:Elena Della Tawna}
Visitato dal dr. {DOCTOR:Sergio Zannetti}.
Prof.ssa {DOCTOR:Ilaria Quillini}
Visitata da {DOCTOR:Giorgio Marsetti} in pronto soccorso.
Il medico curante {DOCTOR:Paolo Tawnesi} è informato.
Medico refertante: {DOCTOR:Silvia Quillucci}
Cordiali saluti, {DOCTOR:Davide Zannelli}
Inf. {DOCTOR:Monica Quilli} al letto.
Cardiologa {DOCTOR:Roberta Tawnoni}
Ricoverato presso l'{HOSPITAL:Ospedale San Raffaele}.
Dimesso dall'{HOSPITAL:Ospedale di Lecco}.
Trasferito al {HOSPITAL:Policlinico di Bari}.
Ricovero alla {HOSPITAL:Clinica Santa Rita}.
Lavora presso l'{HOSPITAL:Università di Padova}.
Nata a {LOCATION:Viterbo} nel marzo scorso.
Residente a {LOCATION:Castellammare di Stabia} con la moglie.
Vive a {LOCATION:L'Aquila}.
Nata a {LOCATION:Reggio Calabria}, vedova.
{LOCATION:89121} {LOCATION:Reggio Calabria}
{LOCATION:Via Quillardi 12}, {LOCATION:20121} {LOCATION:Milano}
Indirizzo: {LOCATION:Corso Tawn, 45}
Abita in {LOCATION:Piazza della Quilla, 3 int. 4}
{LOCATION:V.le dei Quilli 7}
{LOCATION:00184} {LOCATION:Roma}
Tel. {PHONE:06 5550134}
Cell. {PHONE:333 5550134}
Telefono: {PHONE:+39 02 5550134}
Fax {PHONE:0341 555013}
Codice fiscale: {ID:QLLTWN72C14H501T}
C.F. {ID:QLLTWN72C14H501T}
Codice {ID:QLLTWN72S14Q482Y} in anagrafe.
Codice QLLTWN72F14Q482Y in anagrafe.
Cartella clinica n. {ID:48221344}
Nosografico {ID:2019004822}
Tessera sanitaria: {ID:80380000482213448221}
Numero di cartella: {ID:482213}
Ricovero del {DATE:12 marzo 2019}.
Nato il {DATE:03/04/1962}.
Data di nascita: {DATE:3.4.1962}
Visita di martedì {DATE:4 marzo 2014}
Controllo a {DATE:febbraio 2018}.
Operato il {DATE:5 ottobre 2011}.
Visitata l'{DATE:11 maggio 2031}.
Referto dell'{DATE:8 marzo 2031}.
Degente dal {DATE:3 all'8 marzo 2031}.
Controlli l'{DATE:8 e l'11 marzo 2031}.
Ricovero dall'{DATE:11/05/2031} all'{DATE:18/05/2031}.
Dimesso l'{DATE:18/3}, rientrato dall'{DATE:20/3}.
Età: {AGE:93} anni
Donna di {AGE:94} anni con tosse.
Madre deceduta a {AGE:97} anni.
Uomo, {AGE:93}, iperteso.
Paziente di {AGE:novantatré} anni.
Paziente {AGE:nonagenaria}.
Ha compiuto {AGE:91} anni.
Una {AGE:novantaduenne} caduta in casa.
Il paziente nega febbre e tosse.
Paziente Vigile e Collaborante.
Medico curante avvisato telefonicamente.
Ricoverato in Terapia Intensiva da ieri.
Dr. di guardia informato.
PA 120/94, FC 94 bpm.
Da 94 giorni con dolore.
Richiesto Ecocardiogramma e Emocromo.
Via orale ogni 8 ore.
Visitato da Cardiologia e Neurologia.
Ospedale di riferimento avvisato.
Figlia presente al colloquio.
Unità di Terapia Intensiva Coronarica.
Piano terapeutico rinnovato.
Nome: sconosciuto
"""

DUTCH = """
Patiënt {PATIENT:Jan van der Quil} werd opgenomen.
Patiënte {PATIENT:Fenna de Tawn} heeft koorts.
Dhr. {PATIENT:Quilstra} klaagt over pijn.
Mevr. {PATIENT:Orla Zannema-Quil} kwam met haar zoon.
Mw. {PATIENT:A. van den Quilberg} is bedlegerig.
De heer {PATIENT:Teun Marshof} woont alleen.
Naam: {PATIENT:Geertje Quilhuis}
Achternaam: {PATIENT:van Tawnen}
Naam patiënt: {PATIENT:Kees 't Quil}
Cliënt {PATIENT:Bram Zannink} is stabiel.
Dochter {PATIENT:Lotte Quilsma} is contactpersoon.
Zoon: {PATIENT:Wouter Tawnstra}
Contactpersoon: {PATIENT:Ria Quilmans}
Dr. {DOCTOR:Maarten Quilman} zag haar op de poli.
Prof. dr. {DOCTOR:E. van Tawnwijk}
Drs. {DOCTOR:Sanne Quilhof} belde.
Huisarts {DOCTOR:Pieter Zannders} is ingelicht.
Gezien door {DOCTOR:Marloes Quilkamp}.
Besproken met {DOCTOR:Henk Marsveld}.
Verpleegkundige {DOCTOR:Ilse Tawnink} deed de wondzorg.
Met vriendelijke groet, {DOCTOR:Ruben Quilsen}
Hoofdbehandelaar: {DOCTOR:Thea Zannker}
Cardioloog {DOCTOR:Bart de Quil} adviseert controle.
Opgenomen in het {HOSPITAL:Ziekenhuis Sint Lucas}.
Verwezen naar {HOSPITAL:Kliniek Hilversum}.
Studeerde aan de {HOSPITAL:Universiteit Leiden}.
Patiënt van {HOSPITAL:Huisartsenpraktijk Apeldoorn}.
Geboren te {LOCATION:Zwolle}, weduwe.
Woonachtig in {LOCATION:Bergen op Zoom} bij haar dochter.
Woonplaats: {LOCATION:Den Haag}
Woont in {LOCATION:Leeuwarden}.
{LOCATION:Quilstraat 12}, {LOCATION:3512 AB} {LOCATION:Utrecht}
Adres: {LOCATION:Tawnlaan 4a}
Adres: {LOCATION:Prins Quilweg 123}
{LOCATION:Burgemeester Tawnplein 7}
{LOCATION:9712 CD} {LOCATION:Groningen}
{LOCATION:B-9000} {LOCATION:Gent}
Tel.: {PHONE:030 5550134}
Telefoon {PHONE:+31 20 555 0134}
Mobiel: {PHONE:06-55501342}
Bereikbaar op {PHONE:0348 555013}
BSN: {ID:482213448}
Patiëntnummer: {ID:4822134}
Dossiernummer {ID:48221344}
Polisnummer: {ID:Q48221344}
Rijksregisternummer {ID:62.04.03-482.21}
Ontslagen op {DATE:12 maart 2019}.
Geboren op {DATE:03-04-1962}.
Geb.datum: {DATE:3/4/1962}
Afspraak {DATE:4 maart 2014} om negen uur.
Scan van {DATE:februari 2018}.
Geopereerd op {DATE:5 okt. 2011}.
Leeftijd: {AGE:93} jaar
Een {AGE:94}-jarige vrouw met hoest.
Moeder overleden op {AGE:97}-jarige leeftijd.
Man, {AGE:93}, hypertensie.
Hij is {AGE:drieënnegentig} jaar.
Vrouw van {AGE:91} jaar.
Zij wordt {AGE:95} in mei.
Haar {AGE:93}e verjaardag.
Patiënt ontkent koorts en hoest.
Patiënte Klinisch stabiel.
Huisarts werd telefonisch ingelicht.
Opgenomen op de Intensive Care sinds gisteren.
Dr. van dienst gebeld.
RR 120/94, pols 94 per minuut.
Sinds 94 dagen pijn.
Aangevraagd: Echocardiografie en Bloedbeeld.
Gezien door Cardiologie en Neurologie.
Ziekenhuis van herkomst gebeld.
Dochter aanwezig bij gesprek.
Onder controle bij Interne Geneeskunde.
Beleid: Paracetamol 1000 mg.
Naam: onbekend
"""

TABLES = {"pt": PORTUGUESE, "it": ITALIAN, "nl": DUTCH}
SENTENCES = [(code, line) for code, table in TABLES.items() for line in table.strip().splitlines()]
OWN = {code: [rule for rule in rules_for((code,)).rules if rule.language == code] for code in TABLES}


@cache
def rules(code: str) -> Deidentifier:
    """The rules of one language, as a training without PHI leaves them."""
    tagger = RulesTagger(RulesSettings(language=code, keep_untried=True))
    tagger.fit([LabelledSentence(Sentence.from_words(["x"]), ("O",))], [])
    return Deidentifier(tagger)


@pytest.mark.parametrize(("code", "marked"), SENTENCES)
def test_the_rules_of_a_language_find_its_phi_and_nothing_else(code: str, marked: str) -> None:
    text = re.sub(r"\{[A-Z]+:([^{}]*)\}", r"\1", marked)
    found = [(KINDS.get(label, label), text[start:end]) for start, end, label in rules(code).annotate(text).spans]
    assert found == re.findall(r"\{([A-Z]+):([^{}]*)\}", marked)


@pytest.mark.parametrize("code", TABLES)
def test_a_language_has_sentences_of_each_type_and_without_phi(code: str) -> None:
    lines = TABLES[code].strip().splitlines()
    types = {"PATIENT", "DOCTOR", "HOSPITAL", "LOCATION", "PHONE", "ID", "DATE", "AGE"}
    assert {kind for line in lines for kind in re.findall(r"\{([A-Z]+):", line)} == types
    assert len(lines) > 60 and sum("{" not in line for line in lines) > 10


@pytest.mark.parametrize("rule", [rule for code in TABLES for rule in OWN[code]], ids=lambda rule: rule.name)
def test_each_rule_of_a_language_finds_its_examples(rule: Rule) -> None:
    alone = rules_for((str(rule.language),), frozenset([rule.name]))
    for text in (*rule.positive_examples, *rule.negative_examples):
        plain = re.sub(r"[\[\]]", "", text)
        sentences = split_sentences(plain)
        hits = [
            plain[sentence.tokens[first].start : sentence.tokens[stop - 1].end]
            for sentence, found in zip(sentences, alone.find(sentences), strict=True)
            for _, first, stop in found
        ]
        values = re.findall(r"\[(.*?)\]", text) or [text]
        assert hits == (values if text in rule.positive_examples else []), text
