/** Spanish texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const es: PageTexts = {
  sender: name => name ?? 'este remitente',
  emailsFrom: sender => `Correos de ${sender}`,
  emailsAbout: topic => `Correos sobre ${topic}`,
  receives: (address, sender) => `Recibes correos de ${sender} en ${address}.`,
  receivesAbout: (address, sender, topic) => `Recibes correos de ${sender} sobre ${topic} en ${address}.`,
  leftAll: (address, sender) =>
    `Se ha cancelado la suscripción de ${address} a todos los correos de ${sender}.`,
  leftTopic: (address, topic) => `Se ha cancelado la suscripción de ${address} a los correos sobre ${topic}.`,
  saved: 'Se han guardado tus preferencias.',
  subscribedAgain: 'Tu suscripción vuelve a estar activa.',
  leaveTopic: topic => `Cancelar la suscripción a ${topic}`,
  leaveAll: 'Cancelar la suscripción a todo',
  subscribeAgain: 'Volver a suscribirme',
  save: 'Guardar',
  chooseTopics: 'O elige tus temas',
  selectToReturn:
    'Selecciona los temas a los que quieres suscribirte. Si no seleccionas ninguno, la suscripción seguirá cancelada.',
  from: 'De',
  to: 'Para',
  cc: 'Cc',
  date: 'Fecha',
  email: 'El correo',
  brokenLink: 'Este enlace no funciona',
  brokenLinkHint: 'Puede que se haya cortado o modificado. Ábrelo de nuevo desde el correo.',
  emailGone: 'Este correo ya no está disponible',
  emailGoneHint:
    'Los correos se pueden leer en el navegador durante un tiempo limitado. Quizá todavía esté en tu buzón.',
}
