"""A rule for firms that make medicines and devices, which case reports name in parentheses."""

from __future__ import annotations

from crfdeid.rules.rule import CAPITAL, LINKED, WORD, Rule
from features.lexicons import LEXICONS

_COUNTRIES = tuple(sorted(LEXICONS["country"] - {"estados", "unidos", "states", "costa", "república"}))
_LANDS = rf"(?:EE\.? ?UU\.?|U\.?S\.?A\.?|U\.?K\.?|Estados Unidos|United States|{'|'.join(_COUNTRIES)})"
_MAKERS = (
    *("abbott", "abbvie", "alcon", "alcon[ -]cus[ií]", "allergan", "almirall", "amgen", "applied biosystems"),
    *("astellas", "astra ?zeneca", r"b\.? ?braun", "bausch (?:&|and) lomb", "baxter", "bayer", "beckman coulter"),
    *("becton dickinson", "biogen", "biom[eé]rieux", "biotronik", "boehringer", "boehringer ingelheim"),
    *("boston scientific", "bristol[ -]myers[ -]squibb", "carl zeiss", "celgene", "chiesi", "coloplast", "covidien"),
    *("dr[äa]ger", "edwards lifesciences", "eisai", "eli lilly", "lilly", "esteve", "ethicon", "ferring", "fresenius"),
    *("fujifilm", "galderma", "general electric", "genentech", "genzyme", "gilead", "glaxo ?smith ?kline", "gsk"),
    *("grifols", "heidelberg engineering", "hewlett[ -]packard", "hitachi", "hologic", "ipsen", "janssen"),
    *("janssen[ -]cilag", "johnson (?:&|and|y) johnson", "karl storz", "storz", "leica", "lundbeck", "medtronic"),
    *("menarini", "merck", "merck sharp (?:&|and) dohme", "msd", "mylan", "nestlé", "nidek", "nikon", "nobel ?biocare"),
    *("novartis", "novo nordisk", "nutricia", "octapharma", "olympus", "organon", "otsuka", "pfizer", "pharmacia"),
    *("philips", "pierre fabre", "roche", "sandoz", "sanofi", "sanofi[ -]aventis", "schering", "schering[ -]plough"),
    *("servier", "siemens", "smith (?:&|and) nephew", r"st\.? jude", "straumann", "stryker", "synthes", "takeda"),
    *("terumo", "teva", "thermo fisher", "topcon", "toshiba", "ucb", "vifor", "wyeth", "zambon", "zimmer"),
)
_KNOWN = "|".join(sorted(_MAKERS, reverse=True))  # the longest first
_LEGAL = r"(?:,? (?:s\.?a|s\.?l|inc|ltd|gmbh|ag|co|corporation)(?!\w))?"
_NAMED = r"(?-i:[A-ZÁÉÍÓÚÑ][a-zà-ú’']{2,30}+)"
_JOINED = r"(?: | ?& ?|-| and | y )"
_FIRM = rf"{CAPITAL}[\w’']{{0,40}}+(?:{_JOINED}[^\W\d][\w’']{{0,40}}+){{0,4}}"

MAKERS = (
    Rule(
        "maker of a product",
        # "Tawnol® 5 % (Quill"
        rf"[\w-]{{2,40}}+ ?[®™][^()®™]{{0,12}}?[,;(] ?(?P<marked>{_FIRM})(?= ?[),;.])"
        # "(Roche"
        rf"|\([^()]{{0,60}}?(?<=[ (,;.-])(?P<known>(?={CAPITAL})(?:{_KNOWN}){_LEGAL})(?!\w)(?! ?[®™])"
        # "(Tawn 3000, Quill Zann Instruments"
        rf"|\([^()]{{2,50}}?[,;.] (?P<several>{_NAMED}(?:{_JOINED}{_NAMED}){{1,3}}{_LEGAL})(?=[,.);])"
        # "(Tawnol 5, Quill)"
        rf"|\({CAPITAL}[\w™®-]{{0,30}}+(?: [\w.®-]{{1,20}}+){{0,4}}[,;] (?P<single>{_NAMED})(?=\)|, {CAPITAL})"
        # "(a pump, Quill Ltd, Quillton, England"
        rf"|\((?:[^()]{{1,40}}?[,;] )?(?P<placed>{_FIRM}), (?:{WORD}{LINKED}, )?{_LANDS}(?!\w)",
        ("INSTITUCION", "ORGANIZATION"),
        (
            *("timolol (Tawnol®, [Quill])", "Quillex® ([Tawn & Quill], Tawn)", "(Tawnol® 5%, [Quill Zann SA], Tawn)"),
            *("timolol ([Alcon Cusí], Tawn)", "(tawnol, [Roche SA])", "(un tawn 3000, [Quill Zann Instruments])"),
            *("(Tawnol 5, [Quill])", "a pump (NOx 4, [Tawn Scientific Ltd], Quillton, England)"),
        ),
        (
            *("Tawnol® (5 mg)", "Tawnol®, y luego", "(Alcon®)", "a Philips scanner", "(alcon)", "(Tawn Quill)"),
            *("(3 mg, Quill)", "(tawn, quill and zann)", "born in Tawn, England", "(seen in England)"),
        ),
        words=("®", "™", "("),
        sign=rf"[®™]|\([^()]*{CAPITAL}",
        by_example=True,
    ),
)
