"""Files, processes and pages, for all packages.

files.py    text and TOML files, files that appear whole or not at all, and locks
folders.py  the same for folders; the cache
json.py     JSON without repeated keys, and with checksums
tables.py   small CSV files by their columns, and Markdown tables
html.py     self-contained HTML pages (base.*)
process.py  worker processes, threads, cores, memory
"""
