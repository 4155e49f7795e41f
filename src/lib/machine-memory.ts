/** Memory of the machine, or of the control group that the process runs in, and what is derived from it. */
import { totalmem } from 'node:os'
import { constrainedMemory } from 'node:process'

const MIB = 1024 * 1024
/** Memory that the service is measured in, with the limits of `largeInputBytes`. */
export const NEEDED_BYTES = 512 * MIB
/** Threads, caches and connections under everyday load. */
const EVERYDAY_BYTES = 256 * MIB
/**
 * A body or message with a file of 20 MB takes 230 to 260 MB until it is delivered: its bytes, their copy on
 * the way to the process that parses it, several forms of it there, and the message that is composed.
 */
const MEMORY_PER_INPUT = 9
/** One message of 32 MB, with a file of 23 MB, is always possible. */
const LARGE_INPUT = { min: 32 * MIB, max: 480 * MIB }

/** The limit of the control group, if there is one that is lower than the memory of the machine. */
export function machineMemoryBytes(): number {
  return memoryWithin(constrainedMemory(), totalmem())
}

/** @param constrained 0, or a value above the memory of the machine, where nothing is limited */
export function memoryWithin(constrained: number, total: number): number {
  return constrained > 0 && constrained < total ? constrained : total
}

/** A machine with less memory has one delivery thread, since each takes some 15 MB while it is idle. */
export const SEVERAL_THREADS_BYTES = 768 * MIB

/** Returns the memory for large bodies and messages that are received and parsed, in bytes. */
export function largeInputBytes(machineBytes: number): number {
  return bounded((machineBytes - EVERYDAY_BYTES) / MEMORY_PER_INPUT, LARGE_INPUT)
}

const UNREAD_REPLIES = { min: 32 * MIB, max: 256 * MIB, share: 1 / 16 }

/** Returns the memory for HTTP replies that clients have not read yet, in bytes. */
export function unreadReplyBytes(machineBytes: number): number {
  return bounded(machineBytes * UNREAD_REPLIES.share, UNREAD_REPLIES)
}

const SEARCH_CACHE = { min: 8 * MIB, max: 128 * MIB, share: 1 / 32 }

/**
 * Returns the size of the cache for searching emails, in characters: at most the subjects and details of a
 * million emails to one recipient each.
 */
export function searchCacheCharacters(machineBytes: number): number {
  return bounded(machineBytes * SEARCH_CACHE.share, SEARCH_CACHE)
}

function bounded(size: number, { min, max }: { min: number; max: number }): number {
  return Math.min(max, Math.max(min, Math.floor(size)))
}
