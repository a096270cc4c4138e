"""Places of a C-CDA document in which a value can be: templates with NAME for a value, children of `ClinicalDocument`.

From the schema of CDA R2 (header, narrative block, clinical statements) and the C-CDA 2.1 templates of its header.
"""
# ruff: noqa: E501

_SECTION = "<component><structuredBody><component><section>{}</section></component></structuredBody></component>"
_NARRATIVE = {
    "paragraph": "<paragraph>NAME</paragraph>",
    "bare text": "Seen by NAME",
    "content": '<content styleCode="Bold" ID="n1">NAME</content>',
    "caption": "<table><caption>NAME</caption><tbody><tr><td>x</td></tr></tbody></table>",
    "cell": '<table border="1"><tbody><tr><td>NAME</td><td>12</td></tr></tbody></table>',
    "head of a table": "<table><thead><tr><th>NAME</th></tr></thead><tbody><tr><td>x</td></tr></tbody></table>",
    "item": '<list listType="ordered"><item>NAME</item></list>',
    "caption of a list": "<list><caption>NAME</caption><item>x</item></list>",
    "footnote": '<footnote ID="f1">NAME</footnote>',
    "after a break": "x<br/>NAME",
    "link text": '<linkHtml href="#a">NAME</linkHtml>',
    "link": '<linkHtml href="http://example.org/NAME">x</linkHtml>',
    "title of a link": '<linkHtml href="#a" title="NAME">x</linkHtml>',
    "name of a link": '<linkHtml name="NAME">x</linkHtml>',
    "id of a cell": '<table><tbody><tr><td ID="NAME">x</td></tr></tbody></table>',
    "abbreviation": '<table><tbody><tr><td abbr="NAME">x</td></tr></tbody></table>',
    "summary": '<table summary="NAME"><tbody><tr><td>x</td></tr></tbody></table>',
    "cdata": "<paragraph><![CDATA[NAME]]></paragraph>",
    "markup in cdata": "<paragraph><![CDATA[<p>x</p><p>NAME</p>]]></paragraph>",
    "caption of a picture": '<renderMultiMedia referencedObject="m1"><caption>NAME</caption></renderMultiMedia>',
    "comment": "x<!-- NAME -->",
    "processing instruction": "x<?note NAME?>",
    "unknown element": "<ward>NAME</ward>",
    "unknown attribute": '<paragraph ward="NAME">x</paragraph>',
}
_ENTRY = {
    "original text": '<code code="1"><originalText>NAME</originalText></code>',
    "display name": '<code code="1" codeSystem="2.16" displayName="NAME"/>',
    "system's name": '<code code="1" codeSystemName="NAME"/>',
    "qualifier": '<code code="1"><qualifier><name displayName="NAME"/></qualifier></code>',
    "string": '<value xsi:type="ST">NAME</value>',
    "coded value": '<value xsi:type="CD" displayName="NAME"/>',
    "value": '<value xsi:type="PQ" value="NAME"/>',
    "narrative of an entry": "<text>NAME</text>",
    "reference": '<text><reference value="#NAME"/></text>',
    "identifier of an entry": '<id root="2.16.840" extension="NAME"/>',
    "author of an entry": "<author><assignedAuthor><assignedPerson><name>NAME</name></assignedPerson></assignedAuthor></author>",
    "performer": "<performer><assignedEntity><assignedPerson><name><family>NAME</family></name></assignedPerson>"
    "</assignedEntity></performer>",
    "facility": '<participant typeCode="LOC"><participantRole><playingEntity><name>NAME</name></playingEntity>'
    "</participantRole></participant>",
    "substance": "<consumable><manufacturedProduct><manufacturedMaterial><name>NAME</name></manufacturedMaterial>"
    "</manufacturedProduct></consumable>",
    "device": "<author><assignedAuthor><assignedAuthoringDevice><softwareName>NAME</softwareName>"
    "</assignedAuthoringDevice></assignedAuthor></author>",
    "relative": "<subject><relatedSubject><subject><name>NAME</name></subject></relatedSubject></subject>",
    "specimen": "<specimen><specimenRole><specimenPlayingEntity><name>NAME</name></specimenPlayingEntity></specimenRole></specimen>",
    "an extension": '<sdtc:valueSet xmlns:sdtc="urn:hl7-org:sdtc" note="NAME">NAME</sdtc:valueSet>',
    "base64": '<value xsi:type="ED" mediaType="text/plain" representation="B64">NAME</value>',
}
_PATIENT = {
    "family": "<patient><name><given>Jane</given><family>NAME</family></name></patient>",
    "given": '<patient><name use="L"><given qualifier="BR">NAME</given></name></patient>',
    "whole name": "<patient><name>NAME</name></patient>",
    "number": '<id root="2.16.840" extension="NAME"/>',
    "street": "<addr><streetAddressLine>12 NAME St</streetAddressLine><city>Tawn</city></addr>",
    "city": "<addr><city>NAME</city></addr>",
    "whole address": "<addr>12 NAME St</addr>",
    "mail": '<telecom value="mailto:NAME@example.org"/>',
    "guardian": "<patient><guardian><guardianPerson><name>NAME</name></guardianPerson></guardian></patient>",
    "birthplace": "<patient><birthplace><place><name>NAME</name></place></birthplace></patient>",
    "religion": '<patient><religiousAffiliationCode code="1" displayName="NAME"/></patient>',
    "provider": "<providerOrganization><name>NAME</name></providerOrganization>",
    "time of birth": '<patient><birthTime value="NAME"/></patient>',
}
_NAMED = "<assignedPerson><name><prefix>Dr.</prefix><family>NAME</family></name></assignedPerson>"
_HEADER = {
    "title": "<title>NAME</title>",
    "identifier of the document": '<id root="2.16.840" extension="NAME"/>',
    "set of versions": '<setId root="2.16.840" extension="NAME"/>',
    "author": f"<author><assignedAuthor>{_NAMED}</assignedAuthor></author>",
    "author's number": '<author><assignedAuthor><id root="2.16" extension="NAME"/></assignedAuthor></author>',
    "author's telephone": '<author><assignedAuthor><telecom value="tel:NAME"/></assignedAuthor></author>',
    "enterer": f"<dataEnterer><assignedEntity>{_NAMED}</assignedEntity></dataEnterer>",
    "informant": "<informant><relatedEntity><relatedPerson><name>NAME</name></relatedPerson></relatedEntity></informant>",
    "custodian": "<custodian><assignedCustodian><representedCustodianOrganization><name>NAME</name>"
    "</representedCustodianOrganization></assignedCustodian></custodian>",
    "recipient": "<informationRecipient><intendedRecipient><informationRecipient><name>NAME</name></informationRecipient>"
    "</intendedRecipient></informationRecipient>",
    "legal authenticator": f"<legalAuthenticator><assignedEntity>{_NAMED}</assignedEntity></legalAuthenticator>",
    "signature": "<legalAuthenticator><sdtc:signatureText xmlns:sdtc='urn:hl7-org:sdtc'>NAME</sdtc:signatureText>"
    "</legalAuthenticator>",
    "authenticator": f"<authenticator><assignedEntity>{_NAMED}</assignedEntity></authenticator>",
    "contact": '<participant typeCode="IND"><associatedEntity classCode="NOK"><associatedPerson><name>NAME</name>'
    "</associatedPerson></associatedEntity></participant>",
    "order": '<inFulfillmentOf><order><id root="2.16" extension="NAME"/></order></inFulfillmentOf>',
    "service": f"<documentationOf><serviceEvent><performer><assignedEntity>{_NAMED}</assignedEntity></performer>"
    "</serviceEvent></documentationOf>",
    "parent": '<relatedDocument><parentDocument><id root="2.16" extension="NAME"/></parentDocument></relatedDocument>',
    "consent": '<authorization><consent><id root="2.16" extension="NAME"/></consent></authorization>',
    "encounter": '<componentOf><encompassingEncounter><id root="2.16" extension="NAME"/></encompassingEncounter></componentOf>',
    "responsible party": f"<componentOf><encompassingEncounter><responsibleParty><assignedEntity>{_NAMED}</assignedEntity>"
    "</responsibleParty></encompassingEncounter></componentOf>",
    "participant of the encounter": f"<componentOf><encompassingEncounter><encounterParticipant><assignedEntity>{_NAMED}"
    "</assignedEntity></encounterParticipant></encompassingEncounter></componentOf>",
    "place of the encounter": "<componentOf><encompassingEncounter><location><healthCareFacility><location><name>NAME</name>"
    "</location></healthCareFacility></location></encompassingEncounter></componentOf>",
    "comment in the header": "<!-- NAME -->",
    "own element": "<ward:name xmlns:ward='urn:x'>NAME</ward:name>",
    "a document inside": '<component><nonXMLBody><text mediaType="application/pdf" representation="B64">NAME</text>'
    "</nonXMLBody></component>",
    "a text inside": '<component><nonXMLBody><text mediaType="text/plain">NAME</text></nonXMLBody></component>',
}
CDA = {
    **{place: _SECTION.format(f"<title>x</title><text>{text}</text>") for place, text in _NARRATIVE.items()},
    "title of a section": _SECTION.format("<title>NAME</title><text>x</text>"),
    "subsection": _SECTION.format("<component><section><title>x</title><text>NAME</text></section></component>"),
    **{
        place: _SECTION.format(f"<text>x</text><entry><observation classCode='OBS'>{text}</observation></entry>")
        for place, text in _ENTRY.items()
    },
    **{place: f"<recordTarget><patientRole>{text}</patientRole></recordTarget>" for place, text in _PATIENT.items()},
    **_HEADER,
}
FRAME = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<?xml-stylesheet type="text/xsl" href="CDA.xsl"?>\n'
    '<ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n'
    '<typeId root="2.16.840.1.113883.1.3" extension="POCD_HD000040"/>\n{}\n</ClinicalDocument>\n'
)
