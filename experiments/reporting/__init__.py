"""report.html: page.py renders it, error_browser.py lists the errors, findings.py says what holds."""
