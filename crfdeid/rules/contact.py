"""Rules for contact details: e-mail, web, IP and hardware addresses, telephone and fax numbers, postal addresses."""

from __future__ import annotations

from crfdeid.rules.identifiers import FEW_WORDS
from crfdeid.rules.rule import DEVICE_TYPES, PERSON_TYPES, Rule, is_ip, is_telephone, one_of

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
_MAIL = ("EMAIL", "CORREO_ELECTRONICO", "EMAIL_ADDRESS")
_ACCOUNTS = ("USERNAME", *PERSON_TYPES)
# Endings that follow a host in private networks, and those that need a port or a path to be no word.
_MORE_ENDINGS = (
    *("local", "lan", "intranet", "internal", "corp", "home", "de", "it", "be", "at", "se", "no", "dk", "fi", "us"),
    *("in", "me", "tv", "co", "app", "dev", "cloud", "med", "care"),
)
_MORE_ENDING = rf"(?-i:{'|'.join(_MORE_ENDINGS)})"
_PATH = r"(?:/[^\s<>\"'()]{0,2000}[\w/])"
# "[at]", "(arroba)" and the like.
_OPEN, _CLOSE = r"[\[({<]", r"[\])}>]"
_AT_WORDS = r"(?:at|ät|arroba|arobase|a|@|chez|klammeraffe)"
_DOT_WORDS = r"(?:dot|punto|punkt|point|d|\.)"
_AT = (
    rf"(?: ?{_OPEN} ?{_AT_WORDS} ?{_CLOSE} ?| (?:at (?=[\w.-]{{1,63}} dot )|arroba (?=[\w.-]{{1,63}} punto )|arobase ))"
)
_DOT = rf"(?: ?{_OPEN} ?{_DOT_WORDS} ?{_CLOSE} ?| (?:dot|punto|punkt|point) |\.)"

_NETWORKS = (
    *("instagram", "insta", "ig", "twitter", "facebook", "fb", "tiktok", "snapchat", "snap", "skype", "telegram"),
    *(
        "whatsapp",
        "wechat",
        "discord",
        "linkedin",
        "youtube",
        "bluesky",
        "mastodon",
        "kik",
        "venmo",
        "cashapp",
        "viber",
    ),
    *("paypal", "zelle", "messenger", "github", "reddit", "twitch", "pinterest", "slack", "mychart", "xing", "bizum"),
    *("tinder", "grindr", "threema", "icq", "doximity", "bsky"),
)
_OTHER_NETWORKS = ("x", "signal", "threads", "teams", "zoom", "line")  # these are words too
_LOGINS = (
    *("username", "user", "userid", "login", "logon", "screen", "usuario", "usuaria", "nombre", "benutzername"),
    *("benutzer", "benutzerkennung", "kennung", "nom", "identifiant", "utilisateur", "handle", "account"),
)
_NICK = r"(?=[\w.-]{3})[a-z_][\w-]{0,40}+(?:\.[\w-]{1,40}+){0,4}"
_HANDLE = rf"(?:live:)?(?=[a-z-]{{0,30}}[._\d]\w|[a-z]{{2,30}}\d){_NICK}"
_NAMED_ACCOUNT = (
    r"(?: (?:handle|account|user(?:name| ?id)?|name|id|profile|page|is|as|at|under|cuenta|usuario|perfil|nombre|es|como"
    r"|konto|profil|ist|als|unter|compte|pseudo|est|sous|de|en|her|his|their|su)){0,4}(?: ?[:=]| ?\(| -)? ?"
)
# A drive or a shared folder of Windows, or a home folder of Unix, with what lies below.
_FOLDERS = (
    r"(?-i:[A-Z]:[\\/]|\\\\(?=\w)|(?<![\w/.])(?:~|/(?:home|Users|users|mnt|media|srv|data|var|tmp|shared?|Volumes"
    r"|export|nfs"
    r"|opt))/)"
)
_IN_FOLDERS = (
    r"(?:[^\\/:*?\"<>|\s](?:[^\\/:*?\"<>|]{0,60}[^\\/:*?\"<>|\s])?[\\/]){0,20}+[^\\/:*?\"<>|\s]{0,120}(?<=[\w\\/])"
)
_FILES = (
    *(
        "pdf",
        "doc",
        "docx",
        "odt",
        "rtf",
        "txt",
        "xls",
        "xlsx",
        "csv",
        "ppt",
        "pptx",
        "jpg",
        "jpeg",
        "png",
        "tif",
        "tiff",
    ),
    *(
        "bmp",
        "gif",
        "heic",
        "dcm",
        "dicom",
        "xml",
        "json",
        "hl7",
        "msg",
        "eml",
        "zip",
        "mp3",
        "mp4",
        "wav",
        "m4a",
        "mov",
    ),
)

_WORDS_OF_COMPUTERS = (
    *(*_NETWORKS, *_OTHER_NETWORKS, *_LOGINS, *_FILES, "@", "\\", "~", "home", "users", "mnt", "media", "srv", "data"),
    *(
        "var",
        "tmp",
        "share",
        "shared",
        "volumes",
        "export",
        "nfs",
        "opt",
        "file",
        "linked",
        "tok",
        "tube",
        "hub",
        "sky",
    ),
)

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
        _MAIL,
        ("j.quill@tawn.org", "a_b@x.y.es", "write to [j+q@tawn.org].", "o'tawn@quill.com", "j.quill @ tawn.org"),
        ("a @", "3@4", "80 @ 3.5 mg", "2 @ 5.30"),
        words=("@",),
        exact="both",
    ),
    Rule(
        "e-mail in words",
        rf"[\w+%][\w.+%'-]{{0,63}}+{_AT}[\w-]{{1,63}}+(?:{_DOT}[\w-]{{1,63}}+){{1,5}}",
        _MAIL,
        (
            *(
                "j.quill(at)tawn.org",
                "j.quill (at) tawn (dot) org",
                "j.quill at tawn dot org",
                "jquill{at}tawn{dot}org",
            ),
            *("jquill arroba tawn punto org", "quill (ät) tawn.de", "quill (arobase) tawn.fr"),
        ),
        ("seen at tawn", "pain (at) rest", "at 3 dot 5", "arroba"),
        words=("at", "ät", "arroba", "arobase", "@", "klammeraffe"),
    ),
    Rule(
        "domain",
        rf"(?:(?:{_LABEL}\.){{2,4}}|[a-z0-9][a-z0-9-]{{1,61}}[a-z0-9]\.){_ENDING}(?::\d{{2,5}}(?!\d))?{_PATH}?",
        _URL,
        (
            *("tawn-clinic.org", "see [portal.tawn.co.uk/notes/4].", "quill.com", "portal.tawn.org:8443/quill/4822"),
            "tawn.org:8443",
        ),
        ("well.Es", "p.es", "done.in time", "e.g. this"),
        words=_ENDINGS,
    ),
    Rule(
        "host with a path",
        rf"(?=[\w.-]{{1,80}}+(?::\d{{2,5}})?/)(?:(?:{_LABEL}\.){{1,4}}{_MORE_ENDING}(?::\d{{2,5}}(?!\d))?{_PATH}"
        rf"|{_IPV4}(?::\d{{2,5}}(?!\d))?(?=/[a-z]){_PATH}|(?:localhost"
        rf"|[a-z][a-z0-9]{{1,30}}-[a-z0-9-]{{1,30}}):\d{{4,5}}{_PATH})",
        _URL,
        ("srv.tawn.local:8080/q", "10.0.7.2:8080/quill", "tawn.de/quill", "tawn-srv:8443/patients/4822"),
        ("started.in", "post-op:2031", "mg/dl", "tawn-srv:8443"),
        words=("/",),
    ),
    Rule(
        "account in a network",
        rf"(?<!\w)@(?P<marked>(?=[a-z.]{{0,30}}[_\d])(?=[\d_.]{{0,3}}[a-z]{{3}}){_NICK})"
        rf"|@(?P<before>{_NICK})(?= (?:on|en|auf|sur) {one_of(_NETWORKS)}(?!\w))"
        rf"|{one_of(_NETWORKS)}{_NAMED_ACCOUNT}(?:@(?P<at>{_NICK})|(?P<value>{_HANDLE}))"
        rf"|{one_of(_OTHER_NETWORKS)}{_NAMED_ACCOUNT}@(?P<with>{_NICK})"
        rf"|{one_of(_NETWORKS)} (?:handle|user(?:name| ?id)?|usuario|name|id|pseudo|profile)(?: is"
        rf"|:)? (?P<named>(?!(?:is|and|was)(?!\w)){_NICK})"
        r"|(?:user(?: ?name|[ -]?id)?|log(?:in|on)(?: ?(?:id|name))?|screen name|usuari[oa](?: de (?:red|acceso))?"
        r"|nombre de usuario|benutzer(?:name|kennung)?|nom d['’]utilisateur|identifiant(?: de connexion)?)(?: is| es"
        r"| ist| est)?"
        rf" ?[:=]? ?(?P<login>{_HANDLE})",
        _ACCOUNTS,
        (
            *("Her Instagram is @[jane_quill72]", "Skype [jane.quill]", "Skype: [live:jane.quill]", "fb [jquill72]"),
            *("@[jane_quill72]", "@[janequill] on Instagram", "username: [jquill72]", "Twitter handle [janequill]"),
            *("usuario de Instagram: [quilla_72]", "Benutzername: [jquill4]", "WhatsApp @[jquill]", "login [j.quill]"),
        ),
        (
            "@ home",
            "@rest",
            "posts on Facebook daily",
            "signal 3.5",
            "user interface",
            "login required",
            "x 3.5",
            "zoom in",
        ),
        words=_WORDS_OF_COMPUTERS,
    ),
    Rule(
        "path or name of a file",
        rf"{_FOLDERS}{_IN_FOLDERS}|(?-i:file:///?)\S{{1,400}}(?<=\w)"
        rf"|(?=[\w.-]{{0,80}}?[_\d-])\w[\w.()-]{{1,120}}\.(?=\w\w){one_of(_FILES)}(?!\w)",
        _URL,
        (
            *("C:\\Users\\jquill\\notes\\Quill_Jane.docx", "to [D:\\scans\\Jane Quill\\a.pdf].", "/home/jquill/a.pdf"),
            *("\\\\tawn-srv\\scans\\quill.pdf", "~/notes/quill.txt", "quill_jane_48221344.pdf", "Quill-Jane.jpg"),
            *("file:///home/quill/a.pdf", "scan_2031-03-14.tiff"),
        ),
        ("report.pdf", "and/or", "mg/dl", "1/home", "a: b"),
        words=_WORDS_OF_COMPUTERS,
    ),
    Rule(
        "IPv6 address",
        rf"(?<![:.])(?=:{{0,2}}[0-9a-f])(?:[0-9a-f]{{0,4}}:){{2,7}}(?:{_IPV4}"
        rf"|[0-9a-f]{{1,4}})?(?:%[0-9a-z]{{1,16}}(?:[._-][0-9a-z]{{1,16}})?)?"
        r"(?:/\d{1,3})?(?![\w:])|(?:(?<=\[)|(?<=ipv6 )|(?<=ip )|(?=::/\d)):{2}(?:/\d{1,3})?(?!:)",
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
        digits=4,
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
_EXTENSION = r"(?:,? ?(?:x|extn?\.?|extension|extensión|anexo|dw|poste) ?#?\d{1,6})?"
_NO_MEASURE = r"(?! ?(?:°|º|%|deg(?:rees)?|grad(?:os|en?)?|mg|mcg|g|mm|cm|ml|u|ui|iu)(?!\w))"
_OR_EXTENSION = r"(?: ?[,/] ?| (?:or|and|y|o|u|oder|und|ou|et) )(?:x|ext\.? ?)?"
_OR = r"(?: ?[,/;] ?| (?:or|and|y|o|u|oder|und|ou|et) )"
_SEVEN = r"[2-9]\d\d[ .-]\d{4}(?!\d)"
# After a word for it, any digits but a date's; elsewhere with a country's code, or an area's after a zero.
_DIALLED = (
    r"(?!\d\.\d\d?(?!\d))(?!\d{1,2}[./-]\d{1,2}[./-](?:19|20)?\d\d(?![\d./-]))(?:\(?\+|\(?0)?\(?\d[\d() ./-]{3,18}\d"
)
_INTERNATIONAL = (
    r"(?:\((?:\+|00)\d{1,3}\)|\+ ?\d{1,3}|00[1-9]\d{0,2})(?: ?\(0\d{0,4}\))?(?: ?[/-] ?|[ .])?\d{1,12}"
    r"(?:(?: ?[/-] ?|[ .])\d{1,12}){0,5}"
)
_WITH_TRUNK_ZERO = (
    r"(?<!\d )(?:0[1-9]([ ./-])\d\d(?:\1\d\d){3}|(?:\(0 ?[1-9][\d ]{0,5}\) ?|0[1-9]\d{0,4}(?: ?[/-] ?|[ .]))"
    r"(?:\d{5,10}(?:-\d{1,4})?(?! \d)|\d{1,5}([ .-])\d{2,6}(?:\2\d{2,4}){0,3})|0[1-9]\d\d(?: \d\d){3})"
    rf"{_EXTENSION}"
)
_STATE = (
    r"(?-i:A[AEKLPRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|P[AR]|RI|S[CD]|T[NX]|UT"
    r"|V[AT]"
    r"|W[AIVY]|Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho"
    r"|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi"
    r"|Missouri|Montana|Nebraska|Nevada|New (?:Hampshire|Jersey|Mexico|York)|(?:North|South) (?:Carolina|Dakota)|Ohio"
    r"|Oklahoma|Oregon|Pennsylvania|Rhode Island|Tennessee|Texas|Utah|Vermont|Virginia|Washington|Wisconsin|Wyoming)"
)
# The areas of UK postcodes.
_AREA = (
    r"(?:A[BL]|B[ABDHLNRST]?|C[ABFHMORTVW]|D[ADEGHLNTY]|E[CHNX]?|F[KY]|G[LUY]?|H[ADGPRSUX]|I[GMPV]|JE|K[ATWY]"
    r"|L[ADELNSU]?"
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
# In capitals, "ST", "CT", "RD" and "DR" have other meanings, unless an address goes on after them.
_CLEAR_WAYS = (
    r"(?:STREET|AVENUE|AVE|ROAD|BOULEVARD|BLVD|LANE|DRIVE|COURT|PARKWAY|PKWY|HIGHWAY|HWY|TERRACE|CIRCLE|TRAIL|CRESCENT)"
)
_WAYS_IN_CAPITALS = (
    r"(?:ST|DR|RD|CT|LN|PL|PLACE|CIR|SQ|SQUARE|WAY|TER|TRL|TPKE|TURNPIKE|PLAZA|PLZ|LOOP|PIKE|RUN|ROW|HILL|PARK|CLOSE"
    r"|GROVE|GARDENS|MEWS|WALK|RIDGE|POINT|COVE|CROSSING|LANDING|HEIGHTS|HOLLOW|ALLEY|EXPY|FWY|CRES|GDNS)"
)
_TOWARDS = r"(?:[NS]\.?[EW]?\.?|[EW]\.?|(?:North|South)(?:east|west)?|East|West|NORTH|SOUTH|EAST|WEST) "
_WORDS_OF_WAYS = tuple(
    ["plz", "ter", "trl", "tpke", "expy", "fwy", "cres", "gdns", "route", "rte", "interstate", "fm", "cr", "sr"]
    + [way.lower() for way in _WAYS]
)
_HOUSE = r"\d{1,5}(?:[A-Za-z]|-\d/\d|-\d{1,4}[A-Z]?|-[A-Z]| ?[½¼¾]| \d/\d)?"
_NAME_OF_WAY = r"(?:(?:Mc|Mac|O['’]|D['’]|St\. |Mt\. |Ft\. )?[A-Z][a-z'’-]+|[A-Z]\.|\d{1,3}(?:st|nd|rd|th))"
_CAPITALS = r"(?:[A-Z][A-Z'’-]+|[A-Z]\.|\d{1,3}(?:ST|ND|RD|TH))"
_UNIT = (
    r"(?:(?:,|\.,?)? (?:apt|apartment|suite|ste|unit|flat|floor|fl|rm|room|bldg|building|lot|trlr|spc"
    r"|no)\.? ?#?\w{1,5}(?!\w)"
    r"|(?:,|\.,?)? ?#\w{1,5})"
)
_TOWN = rf"(?:,? [A-Z][A-Z.'’-]+(?: [A-Z][A-Z.'’-]+){{0,2}},? {_STATE}(?!\w)|,? \d{{5}}(?!\d))"

CONTACT_RULES = (
    Rule(
        "fax",
        rf"{_DIALLED}{_EXTENSION}",
        ("FAX", "NUMERO_FAX", "FAX_NUMBER", "PHONE"),
        ("Fax: [(555) 555-0134]", "fax [914 555 013]", "fax number is [+1 555-555-0134]", "Telefax [030/23125013]"),
        ("fax it", "fax 12", "fax 14/03/2019"),
        left_context=("fax", "telefax"),
        digits=2,
    ),
    Rule(
        "telephone",
        rf"(?=(?:[ ()+/.-]{{0,4}}\d){{9}})(?:{_INTERNATIONAL}{_EXTENSION}|{_WITH_TRUNK_ZERO}"
        rf"|(?:001?-|1[ .-]?)?(?:\(\d{{3}}\)[ ./-]?(?: ?[-–] ?)?|[2-9]\d\d[./-]"
        rf"|(?<=1 )\d{{3}} )[2-9]\d\d[ .-]?\d{{4}}{_EXTENSION}"
        rf"|[2-9]\d\d [2-9]\d\d-\d{{4}}{_EXTENSION}"
        rf"|(?<!lote )(?<!lot )1[2-9](?!11)\d\d[2-9]\d{{6}}{_EXTENSION}|\(\d{{2,3}}\) ?[2-9]\d{{6,7}}"
        r"|(?<!\d )(?:[26-9]\d\d([ .-])\d\d(?:\3\d\d){2}|[26-9]\d([ .-])\d{3}(?:\4\d\d){2}"
        r"|2\d\d-\d{3}-\d{3}|2\d \d{3} \d{4}|[6-9]\d\d([ .-])\d{3}\5\d{3}|(?:[36-9]\d\d[ ./-]|\(3\d\d\) ?)\d{6,7}))",
        _PHONES,
        (
            *("(555) 555-0134", "555-555-0134 x12", "1-555-555-0134", "001-555-555-0134x123", "555.555.0134 ext. 12"),
            *("+34 914 555 013", "0034 914 55 50 13", "914 55 50 13", "+44 20 7946 0958", "(020) 7946 0958"),
            *("020 7946 0958", "+44(0)20 7946 0958", "01 82 21 34 48", "+15555550134", "(+34) 914 555 013"),
            *("030/23125013", "+49 (0) 30 / 23 12 50 13", "030 231250-13", "0664/555 30 13 DW 4", "044 555 30 13"),
            *("01/99/00/30/13", "0199 00 30 13", "06 5553 0134", "347 5553013", "06-15553013", "289-553-013"),
            *("21 553 0134", "(555)-255-0134", "15552550134", "(91)4555013", "555 255-0134", "555-2550134"),
            *("555/255-0134", "1(555)255-0134"),
        ),
        ("555-01", "120/80", "5 555", "10-20-30", "01.02.2019 12", "943 476 5919", "51 789 639 203", "1 000 000 000"),
        check=is_telephone,
        exact="both",
        digits=9,
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
            *(
                "reach him on",
                "reach her on",
                "reach me on",
                "reach them at",
                "reach them on",
                "reached at",
                "reached on",
            ),
            *("call him on", "call him at", "call her on", "call her at", "call me at", "call me on", "text", "dial"),
            *(
                "landline",
                "home number",
                "cell number",
                "work number",
                "office number",
                "voicemail",
                "answering service",
            ),
            *("tel fijo", "tel. fijo", "teléfono fijo", "teléfono móvil", "tel. móvil", "telefono movil", "tel movil"),
            *("avisar al", "localizable en el", "contactar en el", "busca :", "festnetz", "fixe :"),
            *("contact :", "contacto :", "contatto :", "kontakt :", "recapito"),
            *("telefon", "telefonnummer", "telefonisch unter", "mobil", "handy", "erreichbar unter", "rückruf"),
            *("durchwahl", "tél", "téléphone", "portable", "joindre au", "appeler le", "llamar al", "chiamare il"),
            *("cellulare", "recapito telefonico", "telefoon", "telefoonnummer", "telnr", "mobiel", "mobiel nummer"),
            *("bellen naar", "bereikbaar op", "telefone", "telemóvel", "telem", "telef", "ligar para"),
            "contacto telefónico",
        ),
        digits=2,
    ),
    Rule(
        "telephone of seven digits",
        rf"{_SEVEN}{_EXTENSION}(?:{_OR}{_SEVEN}{_EXTENSION})?{_NO_MEASURE}",
        _PHONES,
        (
            *(
                "Home [255-0134]",
                "work: [255 0134]",
                "Hm [255-0134]",
                "cell [255.0134 x12]",
                "office [255-0134], [255-0135]",
            ),
            *("casa [255-0134]", "privat [255 0134]", "domicile [255 0134]"),
        ),
        ("home 250-1000 mg", "work 8-10", "255-0134", "home 2 255"),
        left_context=(
            *(
                "home",
                "work",
                "cell",
                "mobile",
                "office",
                "house",
                "business",
                "evening",
                "evenings",
                "daytime",
                "night",
            ),
            *("h", "w", "c", "m", "o", "wk", "hm", "day", "number", "desk", "direct", "emergency", "emergency contact"),
            *("home)", "work)", "cell)", "mobile)", "office)", "h)", "w)", "c)", "m)", "o)", "casa)", "trabajo)"),
            *(
                "casa",
                "trabajo",
                "domicilio",
                "oficina",
                "particular",
                "fijo",
                "privat",
                "dienstlich",
                "büro",
                "arbeit",
            ),
            *(
                "zuhause",
                "zu hause",
                "domicile",
                "travail",
                "bureau",
                "maison",
                "bei",
                "reach",
                "unit",
                "floor",
                "clinic",
            ),
        ),
        separator=_OR,
        digits=7,
    ),
    Rule(
        "extension",
        rf"(?:[2-9]\d\d|\d{{4,6}}){_NO_MEASURE}(?:{_OR_EXTENSION}\d{{3,6}}{_NO_MEASURE}(?!\w))?",
        _PHONES,
        (
            *("at extension [4822]", "ext. [4822] or x[4823]", "extensión [4822]", "Durchwahl [4822]", "poste [4822]"),
            *("Ext: [48221]", "anexo [482]", "Nebenstelle [482]"),
        ),
        ("extension 120", "extension to 4822", "ext 12", "extension 250 mm", "extensión 10"),
        left_context=(
            *(
                "extension",
                "extensions",
                "extensiones",
                "app.",
                "ext",
                "extn",
                "xtn",
                "extensión",
                "extension number",
                "anexo",
                "interno",
            ),
            *(
                "durchwahl",
                "dw",
                "nebenstelle",
                "nst",
                "apparat",
                "poste",
                "interne",
                "busca",
                "beeper number",
                "pager",
            ),
        ),
        separator=_OR_EXTENSION,
        digits=3,
    ),
    Rule(
        "extension after an x",
        rf"(?<![\d×] )(?<!\d)x ?(?P<value>(?!\d*000(?!\d))\d{{4,5}}){_NO_MEASURE}",
        _PHONES,
        ("call x[4823]", "(x[48221])", "office x [4823]"),
        ("x4", "2 x 4822", "x1000", "40x4822", "x4822 mg"),
        words=FEW_WORDS,
        digits=4,
    ),
    Rule(
        "telephone in one run",
        r"0[1-9]\d{8,9}|01[567]\d{9}",
        _PHONES,
        ("02079460958", "0199003013", "017604069013"),
        ("555013", "1234", "0.5552550134", "914555013", "048221344822"),
        digits=10,
    ),
    Rule(
        "telephone without a sign of one",
        r"[6-9]\d{8}|[2-9]\d\d ?[2-9]\d\d ?\d{4}",
        _PHONES,
        ("914555013", "5552550134", "555 255 0134"),
        ("555013", "1555550134"),
        requires_support=True,
        digits=9,
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
        digits=5,
    ),
    Rule(
        "US postal code after a state",
        rf"{_STATE},? {_ZIP}",
        _PLACES,
        ("MA [02139]", "NY, [10001-1234]", "Quilltown, Ohio [48221]", "APO AE [09048]"),
        ("MA 0213", "12345", "in 12345 cases", "de 12345"),
        digits=5,
    ),
    Rule(
        "British postcode",
        rf"(?-i:{_AREA}\d[A-Z\d]? ?\d[ABD-HJLNP-UW-Z]{{2}})",
        _PLACES,
        ("SW1A 9QX", "QUILLTON [M4 8QT]", "EC1Y 8QX", "W1T4QX"),
        ("T4 8MG", "QX1 2AB", "sw1a 9qx", "L5 10ML", "B12 5MG"),
        digits=2,
    ),
    Rule(
        "Canadian postal code",
        r"(?-i:[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z] \d[ABCEGHJ-NPRSTV-Z]\d)",
        _PLACES,
        ("K8R 4T2", "ON [M4B 8R2]"),
        ("D8R 4T2", "T4N2M1", "G1P0A1"),
        digits=3,
    ),
    Rule(
        "house on a numbered road",
        rf"(?-i:{_HOUSE},? (?:{_TOWARDS})?(?:(?:County|State|US|U\.S\.|Old|COUNTY|STATE|OLD) )?"
        r"(?:Road|Route|Rte\.?|Hwy\.?|Highway|Interstate|FM|CR|SR|ROAD|ROUTE|RTE|HWY"
        r"|HIGHWAY) \d{1,4}[A-Z]?(?:,? (?:North|South|East|West|[NSEW])(?!\w))?"
        r"|(?:One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten) (?:[A-Z][a-z'’-]+ ){1,3}(?:Street|Avenue|Road|Plaza"
        r"|Square"
        r"|Boulevard|Place|Drive|Lane|Court)|\d{1,5} Avenue (?:of the )?[A-Z][A-Za-z]{0,20})"
        rf"{_UNIT}?",
        _STREETS,
        ("4822 Highway 12 South", "482 County Road 48", "4822 CR 12", "One Tawn Plaza", "482 Avenue of the Tawns"),
        ("route 48", "4 Road", "one Tawn", "2 State", "One Quill"),
        words=_WORDS_OF_WAYS,
    ),
    Rule(
        "street of several words in German",
        r"(?-i:(?:[A-ZÄÖÜ][\w’-]{0,30}+\.? ){1,3}(?:Straße|Strasse|Str\.|Weg|Platz|Allee|Ring|Gasse|Damm|Ufer|Markt"
        r"|Chaussee|STRASSE"
        r"|STR\.|WEG|PLATZ|ALLEE|RING|GASSE|DAMM|UFER|MARKT"
        r"|CHAUSSEE) \d{1,3}(?: ?[a-z](?!\w))?(?:-\d{1,3})?)(?! ?(?:mm|cm|mg)(?!\w))",
        _STREETS,
        ("Quiller Weg 12", "Alte Tawner Straße 4a", "AM ALTEN MARKT 7", "[Quiller Str. 12], Tawn"),
        ("Weg 12", "quiller weg 12", "auf dem Weg 2", "Lasègue Ring"),
        words=(
            "straße",
            "strasse",
            "str",
            "weg",
            "platz",
            "allee",
            "ring",
            "gasse",
            "damm",
            "ufer",
            "markt",
            "chaussee",
        ),
        language="de",
        exact="start",
        digits=1,
    ),
    Rule(
        "street with a number",
        rf"(?-i:{_HOUSE},? (?:{_TOWARDS})?(?:{_NAME_OF_WAY} ){{1,4}}{_WAY}(?:\.?,? (?:[NS][EW]?|[EW])(?!\w))?"
        rf"|{_HOUSE},? (?:{_TOWARDS}(?:{_CAPITALS} ){{1,4}}(?:{_CLEAR_WAYS}|{_WAYS_IN_CAPITALS})"
        rf"|(?:{_CAPITALS} ){{1,4}}(?:{_CLEAR_WAYS}|{_WAYS_IN_CAPITALS}(?=\.?(?:(?i:{_UNIT})|{_TOWN}))))(?!\w)"
        r"(?:\.?,? (?:[NS][EW]?|[EW])(?!\w))?)"
        rf"{_UNIT}?",
        _STREETS,
        (
            *("48 Quill Street", "[4822 N. Old Tawn Rd].", "22 East 48th Street, Apt 4B", "482 Tawn Ave Suite 21"),
            *(
                "[4 Quill Dr], Tawn",
                "482 N TAWN AVE APT 4B",
                "482 TAWN STREET",
                "48 1/2 W. 5th St",
                "48-22 Tawn Ave NW",
            ),
            *(
                "482 TAWN RD APT 4",
                "[482 TAWN DR], QUILLTON, OH",
                "48a O'Tawn Close",
                "482 W 5TH ST",
                "482 McTawn Way #4",
            ),
        ),
        (
            *(
                "2 weeks with Dr. Quill",
                "10 AM Dr. Quill",
                "5 Street",
                "Visit 2 Cardiology Dr. Quill",
                "48 quill street",
            ),
            *("12 LEAD ST ELEVATION", "2 HEAD CT", "5 UNITS SQ", "3 AXILLARY LN", "10 AM DR. QUILL", "2 VIEW CHEST"),
        ),
        words=_WORDS_OF_WAYS,
        digits=1,
    ),
    Rule(
        "post office box",
        r"(?:p\. ?o\.?|po|post office) ?box \d{1,6}|apartado de correos \d{1,6}"
        r"|(?:psc|unit|cmr|rr|r\.r\.|hc|rural route) #?\d{1,5},? box #?\d{1,5}[a-z]?|postfach \d[\d ]{0,8}\d"
        r"|b\.?p\.? \d{1,5}(?=,? \d{5})",
        _STREETS,
        (
            "P.O. Box 482",
            "PO Box 48221",
            "PSC 4822, Box 134",
            "apartado de correos 48",
            "RR 2 Box 48",
            "Postfach 48 22",
        ),
        ("box 4", "po 5", "BP 120"),
        words=("box", "apartado", "postfach", "bp", "b"),
        exact="both",
        digits=1,
    ),
    Rule(
        "coordinates",
        r"-?\d{1,2}\.\d{4,8}(?:°? ?[NS])?, ?-?\d{1,3}\.\d{4,8}(?:°? ?[EW])?",
        ("LOCATION-OTHER", "GEOGRAPHIC_LOCATION", "LOCATION"),
        ("48.22134, -7.48221", "48.2213° N, 7.4822° W"),
        ("3.5, 4.2", "48.22134"),
        digits=10,
    ),
)
