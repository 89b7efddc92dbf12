"""Email: mail from an account of the owner's, by SMTP or Amazon SES."""
