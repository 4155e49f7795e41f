/** Addresses of backups in an S3-compatible store, `s3://bucket/prefix`, and what is needed to reach them. */
import type { Clock } from '../../lib/clock.ts'
import { S3Bucket } from '../../protocols/s3/bucket.ts'
import { BackupFault } from './backup-fault.ts'

export interface S3Settings {
  /** URL of the store; null for Amazon S3. */
  endpoint: string | null
  region: string
  accessKeyId: string | null
  secretAccessKey: string | null
}

/** A place in a bucket. */
export interface S3Place {
  /** Without a slash at its end. */
  address: string
  bucket: S3Bucket
  /** Beginning of the keys; empty, or with a slash at its end. */
  prefix: string
}

const SCHEME = 's3://'
const ADDRESS = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[\w.-]+)*)\/?$/
const DOTS = /\/\.{1,2}(?:\/|$)/

export function isS3Address(address: string): boolean {
  return address.startsWith(SCHEME)
}

/**
 * @returns what is wrong with an address of S3, as the rest of a sentence; undefined when it can be used
 */
export function faultInS3Address(address: string): string | undefined {
  return ADDRESS.test(address) && !DOTS.test(address)
    ? undefined
    : 'must be s3://bucket or s3://bucket/prefix, with a prefix of letters, digits, and . _ - /'
}

/** @returns names of the settings that are needed for S3 and missing */
export function missingS3Settings({ accessKeyId, secretAccessKey }: S3Settings): string[] {
  return [
    ...(accessKeyId === null ? ['backup.s3.access_key_id'] : []),
    ...(secretAccessKey === null ? ['backup.s3.secret_access_key'] : []),
  ]
}

/** @throws BackupFault */
export function s3PlaceAt(address: string, settings: S3Settings, clock: Clock): S3Place {
  const fault = faultInS3Address(address)
  if (fault !== undefined) throw new BackupFault(`${address} ${fault}`)
  const missing = missingS3Settings(settings)
  if (missing.length > 0) {
    const variables = missing.map(name => `MAILHORN_${name.toUpperCase().replaceAll('.', '_')}`)
    throw new BackupFault(`${address} needs ${missing.join(' and ')}: set ${variables.join(' and ')}`)
  }
  const { endpoint, region, accessKeyId, secretAccessKey } = settings
  const [, bucket, path] = ADDRESS.exec(address)!
  return {
    address: SCHEME + bucket + path,
    bucket: new S3Bucket({
      endpoint: (endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/\/+$/, ''),
      region,
      bucket: bucket!,
      accessKeyId: accessKeyId!,
      secretAccessKey: secretAccessKey!,
      clock,
    }),
    prefix: path === '' ? '' : `${path!.slice(1)}/`,
  }
}
