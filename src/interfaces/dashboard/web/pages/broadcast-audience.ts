/** Whom a broadcast goes to, in words. */
import { type Loaded, useLoad } from '../api/load.ts'
import type { Audience, Broadcast, Segment, Topic } from '../api/types.ts'

const NOT_FOUND = 404

export interface AudienceWords {
  /** The audience, with the segment: `Readers › In Vienna`. Empty while it is loaded. */
  to: string
  /** Undefined without a topic, and while it is loaded. */
  topic: string | undefined
}

export function useAudienceWords({
  audience_id,
  segment_id,
  topic_id,
}: Pick<Broadcast, 'audience_id' | 'segment_id' | 'topic_id'>): AudienceWords {
  const audience = useLoad<Audience>(`/audiences/${audience_id}`)
  const segment = useLoad<Segment>(segment_id && `/audiences/${audience_id}/segments/${segment_id}`)
  const topic = useLoad<Topic>(topic_id && `/topics/${topic_id}`)
  return {
    to: [nameOf(audience, 'Deleted audience'), segment_id && nameOf(segment, 'Deleted segment')]
      .filter(Boolean)
      .join(' › '),
    topic: nameOf(topic, 'Deleted topic'),
  }
}

function nameOf({ data, error }: Loaded<{ name: string }>, missing: string): string | undefined {
  return data?.name ?? (error?.status === NOT_FOUND ? missing : undefined)
}
