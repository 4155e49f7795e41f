/** Postfix as a receiver. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startPostfix } from '../../kit/postfix.ts'
import { certificateFile, type Listener, type Receiver, type ReceiverOptions } from './receiver.ts'

const certificates = fileURLToPath(new URL('../../kit/certs/', import.meta.url))

export async function postfixReceiver({ listeners, domains, mailboxes }: ReceiverOptions): Promise<Receiver> {
  const postfix = await startPostfix({
    host: '127.0.0.9',
    domain: 'mx.test',
    mailboxes: [...mailboxes],
    settings: ['smtpd_hard_error_limit = 100'],
    moreDomains: domains,
    moreListeners: listeners.map(each => ({ host: each.host, settings: settingsOf(each) })),
  })
  const { stdout } = spawnSync('postconf', ['-dh', 'mail_version'], { encoding: 'utf8' })
  return { ...postfix, version: `Postfix ${stdout.trim()}` }
}

function settingsOf(listener: Listener): string[] {
  const { name, certificate, pipelining, chunking, maxBytes } = listener
  const silent = [...(pipelining ? [] : ['pipelining']), ...(chunking ? [] : ['chunking'])]
  return [
    `myhostname=${name}.there.test`,
    `message_size_limit=${maxBytes}`,
    ...(silent.length > 0 ? [`smtpd_discard_ehlo_keywords=${silent.join(',')}`] : []),
    ...(certificate === null
      ? ['smtpd_tls_security_level=none']
      : [`smtpd_tls_cert_file=${certificates}${certificateFile(listener)}`]),
    ...(certificate === 'tls-1.1'
      ? ['smtpd_tls_protocols=TLSv1,TLSv1.1', 'smtpd_tls_ciphers=low', 'tls_low_cipherlist=ALL:@SECLEVEL=0']
      : []),
  ]
}
