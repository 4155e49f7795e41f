"""Sends one message by smtplib: sys.argv is host, port, user, password, sender, recipients with commas."""
import smtplib
import ssl
import sys
from email.message import EmailMessage

host, port, user, password, sender, recipients = sys.argv[1:7]
message = EmailMessage()
message["From"] = sender
message["To"] = recipients.split(",")[0]
message["Subject"] = "Grüße aus Python"
message.set_content("Schöne Grüße.\n.\n..\nEnde.\n")
message.add_attachment(bytes(range(256)), maintype="application", subtype="octet-stream", filename="daten.bin")
context = ssl._create_unverified_context()
try:
    with smtplib.SMTP(host, int(port)) as session:
        session.starttls(context=context)
        session.login(user, password)
        session.send_message(message, to_addrs=recipients.split(","))
        print("sent")
except smtplib.SMTPException as error:
    print(repr(error))
    sys.exit(1)
