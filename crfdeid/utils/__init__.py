"""Files, processes and pages, for all packages.

files.py    text files, and files that appear whole or not at all    folders.py   the same for folders; the cache
process.py  worker processes, threads, cores, memory                 html.py      self-contained HTML pages (base.*)
json.py     JSON without repeated keys, and with checksums           toml.py      TOML, with the line of an error
tables.py   small CSV files by their columns, and Markdown tables
"""
