/** Counts the calls by which a program forces data to the disk, over strace. */
import { readFileSync } from 'node:fs'

/** Words to put before a command, so that it and all it starts write to the file; none without a file. */
export function syncTracer(file: string | undefined): string[] {
  if (file === undefined) return []
  return ['strace', '-D', '-f', '-qq', '--seccomp-bpf', '-e', 'trace=fsync,fdatasync', '-o', file]
}

/** Calls begun so far. */
export function syncCount(file: string): number {
  return readFileSync(file, 'latin1').match(/\b(?:fsync|fdatasync)\(/g)?.length ?? 0
}
