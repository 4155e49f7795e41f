/** Deliverability page: findings of the doctor, the provider zone, sending IP addresses, and alerts. */
import { useEffect, useState } from 'preact/hooks'
import { call, withQuery } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Doctor, List } from '../api/types.ts'
import { Button, Copy } from '../components/controls.tsx'
import { Dialog, useAct } from '../components/dialog.tsx'
import { Failure, Pending, Waiting } from '../components/feedback.tsx'
import { Findings } from '../components/findings.tsx'
import { Card, Head, Time } from '../components/show.tsx'
import { AlertsCard } from './alerts-card.tsx'
import { SourcesCard } from './sources-card.tsx'

export function Deliverability() {
  const doctor = useLoad<Doctor>('/doctor')
  const [isZoneOpen, setZoneOpen] = useState(false)
  return (
    <>
      <Head title="Deliverability">
        <Button onClick={() => setZoneOpen(true)}>Provider zone</Button>
        <Button icon="again" disabled={doctor.isLoading} onClick={doctor.reload}>
          Run checks
        </Button>
      </Head>
      <Card
        title="Diagnostics"
        lead={
          doctor.data ? (
            <>
              Last run <Time at={doctor.data.checked_at} />.
            </>
          ) : (
            'Running checks. This takes up to 20 seconds.'
          )
        }
        flush
      >
        {!doctor.data && <Pending of={doctor} />}
        {doctor.data && <Findings findings={doctor.data.findings} />}
      </Card>
      {!doctor.isLoading && (
        <>
          <SourcesCard doctor={doctor.data} />
          <AlertsCard />
        </>
      )}
      {isZoneOpen && <ZoneDialog onClose={() => setZoneOpen(false)} />}
    </>
  )
}

const RECORDS_PER_PAGE = 100

/** Shows all records of the provider zone in zone file syntax, for a zone that is hosted elsewhere. */
function ZoneDialog({ onClose }: { onClose: () => void }) {
  const [zone, setZone] = useState<string>()
  const { error, run } = useAct(async () => {
    const lines: string[] = []
    for (let hasMore = true; hasMore; ) {
      const path = withQuery('/dns/records', { limit: RECORDS_PER_PAGE, offset: lines.length })
      const page = await call<List<{ line: string }>>('GET', path)
      lines.push(...page.data.map(({ line }) => line))
      hasMore = page.has_more
    }
    setZone(lines.join('\n'))
  })
  useEffect(() => {
    void run()
  }, [])
  return (
    <Dialog title="Provider zone" wide onClose={onClose}>
      <div class="dialog-body">
        <p class="quiet">
          Mailhorn serves these records itself while dns.listen is set. If the zone is hosted elsewhere, copy
          all of them there, again after each rotation of a DKIM key.
        </p>
        {error && <Failure error={error} retry={() => void run()} />}
        {zone === undefined ? !error && <Waiting /> : <Copy block text={zone} label="Copy zone" />}
      </div>
    </Dialog>
  )
}
