package operations;

import java.io.IOException;

/** Gives an answer again for a while. When it is too old one request makes it anew; the others get the old one. */
final class Cache {
    interface Make {
        byte[] answer() throws IOException, InterruptedException;
    }

    private final long keep;
    private volatile byte[] answer;
    private long until;
    private boolean making;

    Cache(int ms) {
        keep = ms * 1_000_000L;
    }

    boolean on() { return keep > 0; }

    byte[] get(Make make) throws IOException, InterruptedException {
        synchronized (this) {
            while (answer == null && making) {
                wait();
            }
            if (answer != null && (making || System.nanoTime() - until < 0)) {
                return answer;
            }
            making = true;
        }
        byte[] made = null;
        try {
            made = make.answer();
            return made;
        } finally {
            synchronized (this) {
                making = false;
                if (made != null) {
                    answer = made;
                    until = System.nanoTime() + keep;
                }
                notifyAll();
            }
        }
    }
}
