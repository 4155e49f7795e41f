/** Deliverability page: the findings of the doctor, the sending IP addresses, and alerts. */
import { useLoad } from '../api/load.ts'
import type { Doctor } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { Pending } from '../components/feedback.tsx'
import { Findings } from '../components/findings.tsx'
import { Card, Head, Time } from '../components/show.tsx'
import { AlertsCard } from './alerts-card.tsx'
import { SourcesCard } from './sources-card.tsx'

export function Deliverability() {
  const doctor = useLoad<Doctor>('/doctor')
  return (
    <>
      <Head title="Deliverability">
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
    </>
  )
}
