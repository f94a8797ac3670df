"""Transfer, colour passing and answers where the data is: statements for any engine, few and plain."""
