"""How servers are started, limited, watched over and stopped."""
