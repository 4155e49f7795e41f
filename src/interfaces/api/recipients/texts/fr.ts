/** French texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const fr: PageTexts = {
  sender: name => name ?? 'cet expéditeur',
  emailsFrom: sender => `E-mails de la part de ${sender}`,
  emailsAbout: topic => `E-mails sur le thème « ${topic} »`,
  receives: (address, sender) => `Vous recevez des e-mails de la part de ${sender} à l’adresse ${address}.`,
  receivesAbout: (address, sender, topic) =>
    `Vous recevez des e-mails de la part de ${sender} sur le thème « ${topic} » à l’adresse ${address}.`,
  leftAll: (address, sender) =>
    `L’adresse ${address} est désabonnée de tous les e-mails de la part de ${sender}.`,
  leftTopic: (address, topic) => `L’adresse ${address} est désabonnée des e-mails sur le thème « ${topic} ».`,
  saved: 'Vos préférences ont été enregistrées.',
  subscribedAgain: 'Votre abonnement est rétabli.',
  leaveTopic: topic => `Se désabonner de « ${topic} »`,
  leaveAll: 'Se désabonner de tous les e-mails',
  subscribeAgain: 'Se réabonner',
  save: 'Enregistrer',
  chooseTopics: 'Ou choisissez vos thèmes',
  selectToReturn: 'Sélectionnez les thèmes auxquels vous abonner. Sans sélection, vous restez désabonné(e).',
  from: 'De',
  to: 'À',
  cc: 'Cc',
  date: 'Date',
  email: 'L’e-mail',
  brokenLink: 'Ce lien ne fonctionne pas',
  brokenLinkHint: 'Il a peut-être été tronqué ou modifié. Ouvrez-le de nouveau depuis l’e-mail.',
  emailGone: 'Cet e-mail n’est plus disponible',
  emailGoneHint:
    'Les e-mails peuvent être lus dans le navigateur pendant une durée limitée. Il se trouve peut-être encore dans votre messagerie.',
}
