"""Rules for contact details: e-mail, web, IP and hardware addresses, telephone and fax numbers, postal addresses."""

from __future__ import annotations

from crfdeid.rules.rule import DEVICE_TYPES, Rule, is_ip, is_telephone

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}+(?<=[a-z0-9]))?"
# Endings of domains that are no word or abbreviation of notes: "pain.it" may lack a space.
_ENDINGS = (
    *("com", "org", "net", "edu", "gov", "mil", "int", "info", "biz", "io", "eu", "health", "hospital"),
    *("clinic", "cat"),
    *("gal", "eus", "es", "uk", "fr", "ch", "nl", "pl", "pt", "ca", "au", "nz", "ie", "mx"),
    *("br", "cl"),
    *("jp", "cn", "kr", "ru", "ar", "pe", "za"),
)
_ENDING = rf"(?-i:{'|'.join(_ENDINGS)})"
_IPV4 = r"\d{1,3}(?:\.\d{1,3}){3}"
# EUI-48 and EUI-64 of IEEE 802, in pairs of hexadecimal digits or by four.
_PAIR = r"[0-9a-f]{2}"
_HARDWARE = "|".join(
    (
        *(rf"{_PAIR}(?:{separator}{_PAIR}){{5}}(?:(?:{separator}{_PAIR}){{2}})?" for separator in (":", "-", r"\.")),
        r"[0-9a-f]{4}(?:\.[0-9a-f]{4}){2,3}",
    )
)
_NO_VERSION = "".join(f"(?<!{word} )" for word in ("v", r"v\.", "version", "build", "release", "firmware", "section"))
_IP = ("IPADDR", "IPADDRESS", "IP_ADDRESS", "IP", "DIREC_PROT_INTERNET")
_URL = ("URL", "URL_WEB", "WEB_URL")

NETWORK_RULES = (
    Rule(
        "web address",
        r"(?:(?:https?|s?ftp)://|www\s?\.\s?(?=[^\s<>\"'()]{1,63}?\.\w))[^\s<>\"'()]{1,2000}[\w/]",
        _URL,
        (
            "https://tawn.org/a?b=1",
            "https://q@tawn.org",
            "www.tawn.org",
            "see [http://tawn.org/a].",
            "ftp://tawn.org/x.zip",
        ),
        ("www", "http://", "www.tawn"),
        words=("www", "http", "https", "ftp", "sftp"),
    ),
    Rule(
        "e-mail",
        r"[\w+%][\w.+%'-]{0,63}+ ?@ ?[\w-]{1,63}+(?: ?\.[\w-]{1,63}+){0,4} ?\.[a-z]{2,24}+",
        ("EMAIL", "CORREO_ELECTRONICO", "EMAIL_ADDRESS"),
        ("j.quill@tawn.org", "a_b@x.y.es", "write to [j+q@tawn.org].", "o'tawn@quill.com", "j.quill @ tawn.org"),
        ("a @", "3@4", "80 @ 3.5 mg", "2 @ 5.30"),
        words=("@",),
        exact="both",
    ),
    Rule(
        "domain",
        rf"(?:(?:{_LABEL}\.){{2,4}}|[a-z0-9][a-z0-9-]{{1,61}}[a-z0-9]\.){_ENDING}(?:/[^\s<>\"'()]{{0,2000}}[\w/])?",
        _URL,
        ("tawn-clinic.org", "see [portal.tawn.co.uk/notes/4].", "quill.com"),
        ("well.Es", "p.es", "done.in time", "e.g. this"),
        words=_ENDINGS,
    ),
    Rule(
        "IPv6 address",
        rf"(?<![:.])(?=:{{0,2}}[0-9a-f])(?:[0-9a-f]{{0,4}}:){{2,7}}(?:{_IPV4}|[0-9a-f]{{1,4}})?(?:%[0-9a-z]{{1,16}}(?:[._-][0-9a-z]{{1,16}})?)?"
        r"(?:/\d{1,3})?(?!:)|(?:(?<=\[)|(?<=ipv6 )|(?<=ip )|(?=::/\d)):{2}(?:/\d{1,3})?(?!:)",
        _IP,
        (
            *("2001:db8:0:0:0:0:0:1", "2001:db8::8a2e:7", "fe80::1", "2001:DB8::1/64", "fd12:3456:789a::1", "fd00::/8"),
            *("fe80::1%eth0", "::ffff:192.0.2.128", "::1", "::/0", "0:0:0:0:0:0:192.0.2.128"),
        ),
        ("12:30:45", "a: b:: c", "edad::93", "1::2", "2001:db8:::1", "08:30::09:30"),
        words=(":",),
        check=is_ip,
    ),
    Rule(
        "IP address",
        rf"{_NO_VERSION}(?:[\w.+-]{{1,40}}+@)?(?P<value>{_IPV4}(?:[-/]{_IPV4}|:\d{{2,5}}|/\d{{1,2}})?)",
        _IP,
        ("10.0.7.255", "10.0.7.25:8080", "10.0.0.0/8", "10.0.7.2-10.0.7.9", "10.0.7.2/255.255.0.0", "q@[10.0.7.2]"),
        ("10.0.7.256", "1.2.3", "1.2.3.4.5", "version 1.4.8.2"),
        words=(".",),
        check=is_ip,
    ),
    Rule(
        "hardware address",
        rf"(?=[\d.:-]{{0,22}}[a-f])(?:{_HARDWARE})(?!:)",
        DEVICE_TYPES,
        ("00:1b:44:11:3a:b7", "00-1B-44-11-3A-B7", "001b.4411.3ab7", "00:1b:44:ff:fe:11:3a:b7"),
        ("10:20:30:40:50:60", "00:1b:44:11:3a", "10-20-30-40-50-60", "00:1b:44:11:3a:b7:c"),
        words=(":", "-", "."),
    ),
    Rule(
        "hardware address after its name",
        rf"{_HARDWARE}|[0-9a-f]{{12}}",
        DEVICE_TYPES,
        ("MAC [10:20:30:40:50:60]", "mac address: [3c22fb11aa0b]", "BSSID [10-20-30-40-50-60]"),
        ("mac and cheese", "MAC 10:20"),
        (
            *("mac", "mac address", "mac addr", "physical address", "hwaddr", "ether", "bssid", "bluetooth"),
            *("dirección mac", "mac-adresse", "adresse mac"),
        ),
    ),
)


_PHONES = ("PHONE", "NUMERO_TELEFONO", "PHONE_NUMBER", "CONTACT")
_PLACES = ("ZIP", "TERRITORIO", "GEOGRAPHIC_LOCATION", "LOCATION")
_STREETS = ("STREET", "CALLE", "GEOGRAPHIC_LOCATION", "LOCATION")
_ZIP = r"(?P<value>\d{5}(?:-\d{4})?)"
_EXTENSION = r"(?: ?(?:x|ext\.?|extension|dw) ?\d{1,5})?"
# After a word for it, any digits but a date's; elsewhere with a country's code, or an area's after a zero.
_DIALLED = (
    r"(?!\d\.\d\d?(?!\d))(?!\d{1,2}[./-]\d{1,2}[./-](?:19|20)?\d\d(?![\d./-]))(?:\(?\+|\(?0)?\(?\d[\d() ./-]{3,18}\d"
)
_INTERNATIONAL = (
    r"(?:\((?:\+|00)\d{1,3}\)|\+ ?\d{1,3}|00[1-9]\d{0,2})(?: ?\(0\d{0,4}\))?(?: ?[/-] ?|[ .])?\d{1,12}"
    r"(?:(?: ?[/-] ?|[ .])\d{1,12}){0,5}"
)
_WITH_TRUNK_ZERO = (
    r"(?<!\d )(?:0[1-9]([ ./-])\d\d(?:\1\d\d){3}|(?:\(0[1-9]\d{0,4}\) ?|0[1-9]\d{0,4}(?: ?[/-] ?|[ .]))"
    r"(?:\d{5,10}(?:-\d{1,4})?(?! \d)|\d{1,5}([ .-])\d{2,6}(?:\2\d{2,4}){0,3})|0[1-9]\d\d(?: \d\d){3})"
    rf"{_EXTENSION}"
)
_STATE = (
    r"(?-i:A[AEKLPRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|P[AR]|RI|S[CD]|T[NX]|UT|V[AT]"
    r"|W[AIVY]|Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho"
    r"|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi"
    r"|Missouri|Montana|Nebraska|Nevada|New (?:Hampshire|Jersey|Mexico|York)|(?:North|South) (?:Carolina|Dakota)|Ohio"
    r"|Oklahoma|Oregon|Pennsylvania|Rhode Island|Tennessee|Texas|Utah|Vermont|Virginia|Washington|Wisconsin|Wyoming)"
)
# The areas of UK postcodes.
_AREA = (
    r"(?:A[BL]|B[ABDHLNRST]?|C[ABFHMORTVW]|D[ADEGHLNTY]|E[CHNX]?|F[KY]|G[LUY]?|H[ADGPRSUX]|I[GMPV]|JE|K[ATWY]|L[ADELNSU]?"
    r"|M[EKL]?|N[EGNPRW]?|O[LX]|P[AEHLOR]|R[GHM]|S[AEGKLMNOPRSTWY]?|T[ADFNQRSW]|UB|W[ACDFNRSV]?|YO|ZE)"
)
_WAYS = (
    *("Street", "St", "Avenue", "Ave", "Road", "Rd", "Drive", "Dr", "Lane", "Ln", "Court", "Ct", "Boulevard", "Blvd"),
    *("Way", "Place", "Pl", "Terrace", "Circle", "Cir", "Parkway", "Pkwy", "Highway", "Hwy", "Square", "Sq", "Trail"),
    *("Crescent", "Close", "Alley", "Cove", "Creek", "Crossing", "Gardens", "Grove", "Heights", "Hill", "Hollow"),
    *("Landing", "Loop", "Mews", "Park", "Pike", "Plaza", "Point", "Port", "Ridge", "Row", "Run"),
    *("Station", "Turnpike"),
    *("View", "Walk"),
)
_WAY = rf"(?:{'|'.join(_WAYS)})(?!\w)(?<!Dr(?=\.? [A-Z]))"

CONTACT_RULES = (
    Rule(
        "fax",
        rf"{_DIALLED}{_EXTENSION}",
        ("FAX", "NUMERO_FAX", "FAX_NUMBER", "PHONE"),
        ("Fax: [(555) 555-0134]", "fax [914 555 013]", "fax number is [+1 555-555-0134]", "Telefax [030/23125013]"),
        ("fax it", "fax 12", "fax 14/03/2019"),
        left_context=("fax", "telefax"),
    ),
    Rule(
        "telephone",
        rf"(?=(?:[ ()+/.-]{{0,4}}\d){{9}})(?:{_INTERNATIONAL}{_EXTENSION}|{_WITH_TRUNK_ZERO}"
        rf"|(?:001?-|1[ .-])?(?:\(\d{{3}}\) ?|[2-9]\d\d[.-]|(?<=1 )\d{{3}} )[2-9]\d\d[ .-]\d{{4}}{_EXTENSION}"
        r"|(?<!\d )(?:[26-9]\d\d([ .-])\d\d(?:\3\d\d){2}|[26-9]\d([ .-])\d{3}(?:\4\d\d){2}"
        r"|2\d\d-\d{3}-\d{3}|2\d \d{3} \d{4}|[6-9]\d\d([ .-])\d{3}\5\d{3}|(?:[36-9]\d\d[ ./-]|\(3\d\d\) ?)\d{6,7}))",
        _PHONES,
        (
            *("(555) 555-0134", "555-555-0134 x12", "1-555-555-0134", "001-555-555-0134x123", "555.555.0134 ext. 12"),
            *("+34 914 555 013", "0034 914 55 50 13", "914 55 50 13", "+44 20 7946 0958", "(020) 7946 0958"),
            *("020 7946 0958", "+44(0)20 7946 0958", "01 82 21 34 48", "+15555550134", "(+34) 914 555 013"),
            *("030/23125013", "+49 (0) 30 / 23 12 50 13", "030 231250-13", "0664/555 30 13 DW 4", "044 555 30 13"),
            *("01/99/00/30/13", "0199 00 30 13", "06 5553 0134", "347 5553013", "06-15553013", "289-553-013"),
            "21 553 0134",
        ),
        ("555-01", "120/80", "5 555", "10-20-30", "01.02.2019 12", "943 476 5919", "51 789 639 203", "1 000 000 000"),
        check=is_telephone,
        exact="both",
    ),
    Rule(
        "telephone after a word for it",
        rf"{_DIALLED}{_EXTENSION}",
        _PHONES,
        (
            *("Tel. [555 0134]", "pager: [5-5013]", "teléfono [914555013]", "cell: [555-0134]", "call [555-0134]"),
            *(
                "phone number is [555 0134 x5]",
                "Telefon: [030 23125]",
                "Tél : [99 00 30]",
                "Kontakt: [55530 13]",
            ),
        ),
        ("tel aviv", "cell 4", "cell count 12.5", "call 911", "phone in 2015", "Tel. 14.03.2019", "pH 7.35-7.45"),
        left_context=(
            *("phone", "telephone", "tel", "tlf", "tlfno", "telf", "tfno", "teléfono", "telefono", "pager", "beeper"),
            "teléfono de contacto",
            *("móvil", "movil", "mobile", "cell:", "cell phone", "contact number", "call", "callback", "whatsapp"),
            *("ph", "call back :", "reach him at", "reach her at", "reach me at", "his number", "her number"),
            *("contact :", "contacto :", "contatto :", "kontakt :", "recapito"),
            *("telefon", "telefonnummer", "telefonisch unter", "mobil", "handy", "erreichbar unter", "rückruf"),
            *("durchwahl", "tél", "téléphone", "portable", "joindre au", "appeler le", "llamar al", "chiamare il"),
            *("cellulare", "recapito telefonico", "telefoon", "telefoonnummer", "telnr", "mobiel", "mobiel nummer"),
            *("bellen naar", "bereikbaar op", "telefone", "telemóvel", "telem", "telef", "ligar para"),
            "contacto telefónico",
        ),
    ),
    Rule(
        "telephone in one run",
        r"0[1-9]\d{8,9}|01[567]\d{9}",
        _PHONES,
        ("02079460958", "0199003013", "017604069013"),
        ("555013", "1234", "0.5552550134", "914555013", "048221344822"),
    ),
    Rule(
        "telephone without a sign of one",
        r"[6-9]\d{8}|[2-9]\d\d ?[2-9]\d\d ?\d{4}",
        _PHONES,
        ("914555013", "5552550134", "555 255 0134"),
        ("555013", "1555550134"),
        requires_support=True,
    ),
    Rule(
        "postal code after a word for it",
        _ZIP,
        _PLACES,
        ("zip code [02139]", "ZIP: [02139-1234]", "C.P. [28999]", "código postal [28999]"),
        ("zip 0213", "cp 280461"),
        left_context=(
            "zip",
            "zip code",
            "zipcode",
            "postal code",
            "postcode",
            "cp",
            "c.p",
            "c. p",
            "código postal",
            "codigo postal",
        ),
        exact="both",
    ),
    Rule(
        "US postal code after a state",
        rf"{_STATE},? {_ZIP}",
        _PLACES,
        ("MA [02139]", "NY, [10001-1234]", "Quilltown, Ohio [48221]", "APO AE [09048]"),
        ("MA 0213", "12345", "in 12345 cases", "de 12345"),
    ),
    Rule(
        "British postcode",
        rf"(?-i:{_AREA}\d[A-Z\d]? ?\d[ABD-HJLNP-UW-Z]{{2}})",
        _PLACES,
        ("SW1A 9QX", "QUILLTON [M4 8QT]", "EC1Y 8QX", "W1T4QX"),
        ("T4 8MG", "QX1 2AB", "sw1a 9qx", "L5 10ML", "B12 5MG"),
    ),
    Rule(
        "Canadian postal code",
        r"(?-i:[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z] \d[ABCEGHJ-NPRSTV-Z]\d)",
        _PLACES,
        ("K8R 4T2", "ON [M4B 8R2]"),
        ("D8R 4T2", "T4N2M1", "G1P0A1"),
    ),
    Rule(
        "street with a number",
        r"(?-i:\d{1,5}[A-Z]?,? (?:[NSEW]\.? |North |South |East |West )?"
        rf"(?:(?:[A-Z][a-z'-]+|\d{{1,3}}(?:st|nd|rd|th)) ){{1,3}}{_WAY})"
        r"(?:\.?,? (?:apt|apartment|suite|ste|unit|flat)\.? ?#?\w{1,5}|,? ?#\d{1,5})?",
        _STREETS,
        (
            "48 Quill Street",
            "[4822 N. Old Tawn Rd].",
            "22 East 48th Street, Apt 4B",
            "482 Tawn Ave Suite 21",
            "[4 Quill Dr], Tawn",
        ),
        ("2 weeks with Dr. Quill", "10 AM Dr. Quill", "5 Street", "Visit 2 Cardiology Dr. Quill", "48 quill street"),
        words=tuple(map(str.lower, _WAYS)),
    ),
    Rule(
        "post office box",
        r"(?:p\. ?o\.?|po|post office) ?box \d{1,6}|apartado de correos \d{1,6}|(?:psc|unit|cmr) \d{1,5},? box \d{1,5}",
        _STREETS,
        ("P.O. Box 482", "PO Box 48221", "PSC 4822, Box 134", "apartado de correos 48"),
        ("box 4", "po 5"),
        words=("box", "apartado"),
        exact="both",
    ),
    Rule(
        "coordinates",
        r"-?\d{1,2}\.\d{4,8}(?:°? ?[NS])?, ?-?\d{1,3}\.\d{4,8}(?:°? ?[EW])?",
        ("LOCATION-OTHER", "GEOGRAPHIC_LOCATION", "LOCATION"),
        ("48.22134, -7.48221", "48.2213° N, 7.4822° W"),
        ("3.5, 4.2", "48.22134"),
    ),
)
