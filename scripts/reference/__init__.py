"""The reference pages of docs/, generated from the code that they describe: `make reference` writes them."""
