"""What README and docs say is so."""
