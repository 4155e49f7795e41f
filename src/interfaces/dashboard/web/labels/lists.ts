/** Blocklist status of each sending IP address, collected from the findings of the doctor. */
import type { Doctor } from '../api/types.ts'

type Finding = Doctor['findings'][number]

export interface ListState {
  /** Names of blocklists. */
  listed: string[]
  clear: string[]
  /** Lists that did not answer or refused the query. */
  silent: string[]
}

/** Returns the status by IP address; undefined until the doctor has finished. */
export function listStates(doctor: Doctor | undefined): Map<string, ListState> | undefined {
  if (!doctor) return undefined
  const states = new Map<string, ListState>()
  for (const finding of doctor.findings) {
    if (finding.check !== 'blocklist' || finding.subject === null) continue
    const [address = '', list = ''] = finding.subject.split(' ')
    const state = states.get(address) ?? { listed: [], clear: [], silent: [] }
    states.set(address, state)
    placeOf(state, finding).push(list)
  }
  return states
}

function placeOf({ listed, clear, silent }: ListState, { status }: Finding): string[] {
  if (status === 'ok') return clear
  return status === 'unknown' ? silent : listed
}
