/**
 * Checks the TLS certificate of the SMTP listeners: whether it can be read, its host name, and its expiry.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Clock } from '../../lib/clock.ts'
import type { CertificateRow } from '../../store/model/schema/certificates.ts'
import { bad, type DoctorFinding, type Examination, good } from './finding.ts'

interface CertificateOptions {
  /** Host name that the certificate must match. */
  mailHost: string
  clock: Clock
}

interface FilesOptions extends CertificateOptions {
  certFile: string
  keyFile: string | null
}

interface GivenOptions extends CertificateOptions {
  /**
   * Returns the certificate and the last error of the certificate authority; undefined before the first
   * order.
   */
  find(): Promise<Pick<CertificateRow, 'chain' | 'fault' | 'nextAt'> | undefined>
}

const CHECK = 'certificate'
const DAY_MS = 86_400_000
const WARN_BEFORE_MS = 21 * DAY_MS
const RENEW = 'Renew the certificate. The service reloads it within a minute.'
const ASK = 'Resolve the error reported by the certificate authority. Mailhorn retries automatically.'
const FIRST =
  'The first certificate is issued within minutes of the start, once the DNS records of mail_host are found.'

/** Checks the certificate that was issued by ACME. */
export function givenCertificate({ find, mailHost, clock }: GivenOptions): Examination {
  return {
    check: CHECK,
    async examine() {
      const row = await find()
      const refused = row?.fault ? [refusedNext(row.fault, row.nextAt, mailHost)] : []
      if (!row?.chain)
        return refused.length > 0
          ? refused
          : [bad('failed', CHECK, mailHost, 'No certificate has been issued yet.', FIRST)]
      const own = new X509Certificate(row.chain)
      return [age(own, mailHost, clock.now(), ASK), ...nameOf(own, mailHost, mailHost), ...refused]
    },
  }
}

function refusedNext(fault: string, nextAt: number, mailHost: string): DoctorFinding {
  const at = new Date(nextAt).toISOString()
  return bad(
    'failed',
    CHECK,
    mailHost,
    `The certificate authority rejected the request: ${fault}. Next attempt at ${at}.`,
    ASK,
  )
}

export function certificate({ certFile, keyFile, mailHost, clock }: FilesOptions): Examination {
  return {
    check: CHECK,
    async examine() {
      const file = readCertificate(certFile)
      if ('fault' in file)
        return [
          bad(
            'failed',
            CHECK,
            certFile,
            `The certificate cannot be read: ${file.fault}.`,
            'Check smtp.tls.cert_file.',
          ),
        ]
      const { own } = file
      return [
        age(own, certFile, clock.now()),
        ...nameOf(own, certFile, mailHost),
        ...(keyFile === null ? [] : keyOf(own, keyFile)),
      ]
    },
  }
}

function readCertificate(path: string): { own: X509Certificate } | { fault: string } {
  try {
    return { own: new X509Certificate(readFileSync(path)) }
  } catch (error) {
    return { fault: (error as Error).message }
  }
}

function age(own: X509Certificate, subject: string, now: number, advice = RENEW): DoctorFinding {
  const until = Date.parse(own.validTo)
  const days = Math.floor((until - now) / DAY_MS)
  const day = new Date(until).toISOString().slice(0, 10)
  if (now < Date.parse(own.validFrom))
    return bad(
      'failed',
      CHECK,
      subject,
      `The certificate is not valid before ${own.validFrom}.`,
      'Check the system clock and the certificate file.',
    )
  if (until <= now) return bad('failed', CHECK, subject, `The certificate expired on ${day}.`, advice)
  if (until - now < WARN_BEFORE_MS)
    return bad('warning', CHECK, subject, `The certificate expires in ${days} days, on ${day}.`, advice)
  return good(CHECK, subject, `The certificate is valid for ${days} days, until ${day}.`)
}

function nameOf(own: X509Certificate, subject: string, mailHost: string): DoctorFinding[] {
  if (own.checkHost(mailHost) !== undefined) return []
  const message = `The certificate does not match ${mailHost}. It was issued for ${own.subjectAltName ?? own.subject}.`
  return [bad('warning', CHECK, subject, message, `Obtain a certificate for ${mailHost}.`)]
}

function keyOf(own: X509Certificate, keyFile: string): DoctorFinding[] {
  const advice = 'Check smtp.tls.key_file.'
  try {
    if (own.checkPrivateKey(createPrivateKey(readFileSync(keyFile)))) return []
    return [bad('failed', CHECK, keyFile, 'The private key does not match the certificate.', advice)]
  } catch (error) {
    return [
      bad('failed', CHECK, keyFile, `The private key cannot be read: ${(error as Error).message}.`, advice),
    ]
  }
}
