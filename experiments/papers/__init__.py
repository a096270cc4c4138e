"""What is particular to one paper, a module each: its published tables and the orders it claims."""
