import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';

/** Lets a child process keep Node.js running while something is awaited from it, and not while it waits for work. */
export class Hold {
  private holders = 0;

  constructor(private readonly child: ChildProcess) {
    this.each('unref');
  }

  async during<T>(work: Promise<T>): Promise<T> {
    if (this.holders++ === 0) this.each('ref');
    try {
      return await work;
    } finally {
      if (--this.holders === 0) this.each('unref');
    }
  }

  private each(action: 'ref' | 'unref'): void {
    this.child[action]();
    for (const pipe of (this.child.stdio ?? []) as (Socket | null)[]) {
      // One that has ended would wait for a connection, to be told then.
      if (pipe !== null && !pipe.destroyed) pipe[action]();
    }
  }
}
