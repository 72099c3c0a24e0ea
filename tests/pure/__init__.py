"""Parsers, framings, tables and translations: values in, values out."""
