"""`crfdeid review`: redacted notes for people to read, and the bound on leaks that follows."""
