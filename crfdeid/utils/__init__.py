"""What the library asks of the operating system.

files.py       files that are written whole or not at all      folders.py     the same for folders
processes.py   several processes that share the work           threads.py     cores and threads
signals.py     Ctrl-C and SIGTERM, as exceptions that are not lost
cache.py       where what was made once is kept        on_use.py      what is imported when it is used
"""
