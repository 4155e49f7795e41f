/** Error of a backup that the operator can understand and remove. */

import { isStartFault } from '../../lib/start-fault.ts'
import { S3Failure } from '../../protocols/s3/failure.ts'
import { StorageUnavailable } from '../model/command.ts'
import { codeOf } from '../model/errors.ts'
import { isDamaged } from '../opening/dialect.ts'

/** The message is one line for the operator: what is wrong and what to do. */
export class BackupFault extends Error {
  override readonly name: string = 'BackupFault'
}

/** Another process makes a backup to the same folder or bucket. */
export class BackupInProgress extends BackupFault {
  override readonly name = 'BackupInProgress'
}

const REASONS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  SQLITE_FULL: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'its file system is mounted read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EEXIST: 'it is not a folder',
  ENOTDIR: 'it is not a folder',
  EIO: 'the disk failed',
}

const KEY_REFUSED = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'InvalidSecurity',
  'Unauthorized',
  'UnauthorizedAccess',
])
const IS_FULL = /Quota|StorageFull|InsufficientStorage|CapExceeded|TotalSize/i

/** @returns what is wrong with an S3-compatible store and what to do, as the rest of a line */
function s3Reason({ status, reason, region, message }: S3Failure): string {
  if (status === null)
    return `the store cannot be reached (${message}): check backup.s3.endpoint and the network`
  if (reason === 'NoSuchBucket')
    return 'there is no such bucket: create it, or correct the name, backup.s3.endpoint or backup.s3.region'
  if (region !== undefined && (status === 301 || status === 307 || status === 400))
    return `the bucket is in another region: set backup.s3.region to ${region}`
  if (reason === 'RequestTimeTooSkewed')
    return `the clock of this machine or of the store is wrong (${reason}): set it`
  if (KEY_REFUSED.has(reason) || status === 401)
    return `the store refuses the key (${message}): correct backup.s3.access_key_id and backup.s3.secret_access_key`
  if (status === 507 || IS_FULL.test(reason))
    return `the store is full (${message}): free some, keep fewer backups, or raise the quota`
  if (status === 403)
    return `the store denies the key this request (${message}): let it list the bucket, and read, write and delete objects`
  return `the store answered ${message}`
}

/** Turns errors of the disk, a store and a database into a fault; other errors stay as they are. */
export function faultOf(error: unknown, what: string): unknown {
  if (error instanceof BackupFault) return error
  if (error instanceof S3Failure) return new BackupFault(`${what}: ${s3Reason(error)}`, { cause: error })
  if (isStartFault(error)) return new BackupFault(error.message, { cause: error })
  if (error instanceof StorageUnavailable)
    return new BackupFault(`${what}: ${error.message}`, { cause: error })
  const code = codeOf(error)
  const reason =
    REASONS[code] ?? (/^SQLITE_(?:IOERR|CANTOPEN|READONLY)/.test(code) ? 'the disk failed' : undefined)
  if (reason !== undefined) return new BackupFault(`${what}: ${reason} (${code})`, { cause: error })
  if (isDamaged(error))
    return new BackupFault(`${what}: the database is damaged (${(error as Error).message})`, { cause: error })
  return error
}
