"""The tables: which keys a document may hold, and what each of them takes. A rule about one value is a row here."""
