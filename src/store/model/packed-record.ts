/** Compresses short, similar records (delivery attempts) with a dictionary of their common words. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * Dictionary of common words of records, the most common last: DEFLATE encodes short distances in fewer bits
 * (RFC 1951 §3.2.5). Records must be unpacked with the dictionary that packed them, so a better dictionary
 * gets a new number and this one stays.
 */
const FIRST_WORDS = [
  '["ehlo",0,"250 "],["connect",0,null],["banner",0,"220  ESMTP"],["starttls",0,"220 2.0.0 Ready to start TLS"],["tls",0,null]',
  ',"source":"192.0.2.1",451 4.7.1 Greylisted, please try again later550 5.1.1 User unknown552 5.2.2 Mailbox full421 4.7.0 ',
  '"enforced","dane","mta-sts","opportunistic""TLSv1.2","cipher":"ECDHE-RSA-AES256-GCM-SHA384","TLS_AES_128_GCM_SHA256"',
  'TLS_CHACHA20_POLY1305_SHA256"verified":false,"reason":"self-signed certificate".mail.protection.outlook.com',
  '{"delivery":{"mx_host":"mx.","mx_ip":"","tls":"TLSv1.3 verified","reply":"250 2.0.0 Ok: queued as ","duration_ms":',
  '{"delivery":{"mx_host":"mx.","mx_ip":"","tls":null,"reply":"250 2.0.0 OK","duration_ms":}}[InternalId=, Hostname=] Queued mail for delivery',
  '["final-dot","250 2.0.0 Ok: queued as ","gmail-smtp-in.l.google.com","142.250.","TLSv1.3 verified",[{"host":"aspmx.l.google.com","ip":"',
  '","phase":"final-dot","reply":"250 2.0.0 OK  ","tls":{"version":"TLSv1.3","cipher":"TLS_AES_256_GCM_SHA384","verified":true,"reason":null}',
  ',"tlsFallback":null,"policy":"opportunistic","phases":[["mail",0,"250 2.1.0 OK  - gsmtp"],["rcpt",0,"250 2.1.5 OK  - gsmtp"],["data",0,"354 Go ahead',
  '["final-dot","250 2.0.0 Ok","mx.",null,[{"host":"mx.","ip":"","phase":"final-dot","reply":"250 2.0.0 Ok","tls":null,"tlsFallback":null,',
  '"policy":"none","phases":[["mail",0,"250 2.1.0 Ok"],["rcpt",0,"250 2.1.5 Ok"],["data",0,"354 End data with <CR><LF>.<CR><LF>"],',
  '["body",0,null],["final-dot",0,"250 2.0.0 Ok: queued as "]]}]]',
].join('')

const FIRST = 1
const dictionary = Buffer.from(FIRST_WORDS)
const PACKING = { dictionary, level: 6, windowBits: 12, memLevel: 5, chunkSize: 512 }

export function pack(text: string): Uint8Array {
  const packed = deflateRawSync(text, PACKING)
  const bytes = new Uint8Array(packed.length + 1)
  bytes[0] = FIRST
  bytes.set(packed, 1)
  return bytes
}

/** @throws when the dictionary is unknown */
export function unpack(bytes: Uint8Array): string {
  if (bytes[0] !== FIRST) throw new Error(`a record is packed in a way that is not known: ${bytes[0]}`)
  return inflateRawSync(bytes.subarray(1), { dictionary }).toString()
}
