/** The current time is passed as an argument, so that tests can control it. */
export type Clock = () => Date;
