/** Settings of programs that send over SMTP, as text to copy. */

export interface SmtpAccess {
  host: string
  port: number
  /** TLS from the start, or by STARTTLS. */
  security: 'tls' | 'starttls'
  user: string
  password: string
  from: string
  /** Name in a self-signed certificate, which the program is told to trust; null if an authority issued it. */
  selfSignedName: string | null
}

/** Name of the file with the self-signed certificate. */
export const CERTIFICATE_FILE = 'mailhorn.pem'
/** For programs that have no setting of their own (Debian, Ubuntu). */
const SYSTEM_TRUST = `sudo cp ${CERTIFICATE_FILE} /usr/local/share/ca-certificates/mailhorn.crt && sudo update-ca-certificates`

type TextOf = (access: SmtpAccess) => string

export const SMTP_PROGRAMS: readonly (readonly [id: string, label: string, textOf: TextOf])[] = [
  ['nodemailer', 'Node.js (Nodemailer)', nodemailer],
  ['python', 'Python (smtplib)', python],
  ['phpmailer', 'PHP (PHPMailer)', phpMailer],
  ['laravel', 'Laravel', laravel],
  ['django', 'Django', django],
  ['rails', 'Ruby on Rails', rails],
  ['wordpress', 'WordPress (WP Mail SMTP)', wordPress],
  ['postfix', 'Postfix (relay host)', postfix],
  ['msmtp', 'msmtp', msmtp],
  ['curl', 'curl', curl],
]

function trusted(selfSignedName: string | null, comment: string): string {
  return selfSignedName === null ? '' : `${comment} Trust the certificate first: ${SYSTEM_TRUST}\n`
}

function nodemailer({ host, port, security, user, password, from, selfSignedName }: SmtpAccess) {
  return `${selfSignedName === null ? '' : "import { readFileSync } from 'node:fs'\n"}import nodemailer from 'nodemailer'

const transport = nodemailer.createTransport({
  host: '${host}',
  port: ${port},
  secure: ${security === 'tls'},
  requireTLS: true,
  auth: { user: '${user}', pass: '${password}' },${selfSignedName === null ? '' : `\n  tls: { ca: readFileSync('${CERTIFICATE_FILE}') },`}
})
await transport.sendMail({
  from: '${from}',
  to: 'person@example.net',
  subject: 'Hello',
  text: 'It works.',
})`
}

function python({ host, port, security, user, password, from, selfSignedName }: SmtpAccess) {
  const context = `ssl.create_default_context(${selfSignedName === null ? '' : `cafile="${CERTIFICATE_FILE}"`})`
  const open =
    security === 'tls'
      ? `with smtplib.SMTP_SSL("${host}", ${port}, context=${context}) as server:`
      : `with smtplib.SMTP("${host}", ${port}) as server:
    server.starttls(context=${context})`
  return `import smtplib
import ssl
from email.message import EmailMessage

message = EmailMessage()
message["From"] = "${from}"
message["To"] = "person@example.net"
message["Subject"] = "Hello"
message.set_content("It works.")

${open}
    server.login("${user}", "${password}")
    server.send_message(message)`
}

function phpMailer({ host, port, security, user, password, from, selfSignedName }: SmtpAccess) {
  return `$mail = new PHPMailer\\PHPMailer\\PHPMailer(true);
$mail->isSMTP();
$mail->Host = '${host}';
$mail->Port = ${port};
$mail->SMTPSecure = '${security === 'tls' ? 'ssl' : 'tls'}';
$mail->SMTPAuth = true;
$mail->Username = '${user}';
$mail->Password = '${password}';${selfSignedName === null ? '' : `\n$mail->SMTPOptions = ['ssl' => ['cafile' => '${CERTIFICATE_FILE}']];`}
$mail->setFrom('${from}');
$mail->addAddress('person@example.net');
$mail->Subject = 'Hello';
$mail->Body = 'It works.';
$mail->send();`
}

function laravel({ host, port, security, user, password, from, selfSignedName }: SmtpAccess) {
  return `${trusted(selfSignedName, '#')}MAIL_MAILER=smtp
MAIL_SCHEME=${security === 'tls' ? 'smtps' : 'smtp'}
MAIL_HOST=${host}
MAIL_PORT=${port}
MAIL_USERNAME=${user}
MAIL_PASSWORD=${password}
MAIL_FROM_ADDRESS=${from}`
}

function django({ host, port, security, user, password, from, selfSignedName }: SmtpAccess) {
  return `${trusted(selfSignedName, '#')}EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
EMAIL_HOST = "${host}"
EMAIL_PORT = ${port}
${security === 'tls' ? 'EMAIL_USE_SSL' : 'EMAIL_USE_TLS'} = True
EMAIL_HOST_USER = "${user}"
EMAIL_HOST_PASSWORD = "${password}"
DEFAULT_FROM_EMAIL = "${from}"`
}

function rails({ host, port, security, user, password, selfSignedName }: SmtpAccess) {
  return `config.action_mailer.delivery_method = :smtp
config.action_mailer.smtp_settings = {
  address: '${host}',
  port: ${port},
  ${security === 'tls' ? 'tls: true' : 'enable_starttls: true'},
  authentication: :plain,
  user_name: '${user}',
  password: '${password}'${selfSignedName === null ? '' : `,\n  ca_file: '${CERTIFICATE_FILE}'`}
}`
}

function wordPress({ host, port, security, user, password, selfSignedName }: SmtpAccess) {
  return `${trusted(selfSignedName, '//')}define( 'WPMS_ON', true );
define( 'WPMS_MAILER', 'smtp' );
define( 'WPMS_SMTP_HOST', '${host}' );
define( 'WPMS_SMTP_PORT', ${port} );
define( 'WPMS_SSL', '${security === 'tls' ? 'ssl' : 'tls'}' );
define( 'WPMS_SMTP_AUTH', true );
define( 'WPMS_SMTP_USER', '${user}' );
define( 'WPMS_SMTP_PASS', '${password}' );`
}

function postfix({ host, port, security, user, password, selfSignedName }: SmtpAccess) {
  return `# /etc/postfix/main.cf
relayhost = [${host}]:${port}
smtp_sasl_auth_enable = yes
smtp_sasl_password_maps = inline:{ { [${host}]:${port} = ${user}:${password} } }
smtp_sasl_tls_security_options = noanonymous
smtp_tls_security_level = secure
smtp_tls_CAfile = ${selfSignedName === null ? '/etc/ssl/certs/ca-certificates.crt' : `/etc/postfix/${CERTIFICATE_FILE}\nsmtp_tls_secure_cert_match = ${selfSignedName}`}${security === 'tls' ? '\nsmtp_tls_wrappermode = yes' : ''}`
}

function msmtp({ host, port, security, user, password, from, selfSignedName }: SmtpAccess) {
  return `defaults
tls on
tls_starttls ${security === 'tls' ? 'off' : 'on'}${selfSignedName === null ? '' : `\ntls_trust_file ${CERTIFICATE_FILE}`}

account default
host ${host}
port ${port}
auth plain
user ${user}
password ${password}
from ${from}`
}

function curl({ host, port, security, user, password, from, selfSignedName }: SmtpAccess) {
  const url = `${security === 'tls' ? 'smtps' : 'smtp'}://${host}:${port}`
  return `printf 'From: ${from}\\r\\nTo: person@example.net\\r\\nSubject: Hello\\r\\n\\r\\nIt works.\\r\\n' |
  curl${selfSignedName === null ? '' : ` --cacert ${CERTIFICATE_FILE}`} --ssl-reqd '${url}' --user '${user}:${password}' \\
    --mail-from '${from}' --mail-rcpt person@example.net --upload-file -`
}
