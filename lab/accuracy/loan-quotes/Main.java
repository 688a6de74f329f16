import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * Loans: the rate at which a house is paid off in thirty years, for two dozen offers. Nothing is
 * wrong here: p50 and p99 of quotes are 1.2 and 4.2 ms. With the flags that exclude a method from
 * compilation (known.json) they are 14 and 77 ms.
 */
public class Main {
    static final class Mortgage {
        private final double sum;
        private final double pays;

        Mortgage(double sum, double pays) {
            this.sum = sum;
            this.pays = pays;
        }

        /** What is left after so many months, with an insurance of what is owed. */
        static double remains(double sum, double pays, double rate, int months) {
            double insured = sum, premiums = 0;
            int years = 0;
            for (int m = 1; m <= months; m++) {
                double premium = insured * 0.0001 + 2;
                premiums += premium < 10 ? premium : 10;
                insured -= pays * 0.4;
                if ((m & 15) == 12) {
                    years++;
                }
                sum += sum * rate - pays;
            }
            return sum + premiums / (1000 + years);
        }

        double rate() {
            double low = 0, high = 0.02;
            for (int i = 0; i < 20; i++) {
                double middle = (low + high) / 2;
                if (remains(sum, pays, middle, 360) > 0) {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            return low * 12;
        }
    }

    public static void main(String[] args) throws IOException {
        String[] at = System.getenv("ADDR").split(":");
        ServerSocket door = new ServerSocket(Integer.parseInt(at[1]), 500, InetAddress.getByName(at[0]));
        for (int n = 1; ; n++) {
            Socket client = door.accept();
            Thread.ofPlatform().name("client-" + n).daemon().start(() -> serve(client));
        }
    }

    private static void serve(Socket client) {
        try (client) {
            client.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream()));
            OutputStream out = client.getOutputStream();
            for (String line; (line = in.readLine()) != null; ) {
                while (!in.readLine().isEmpty()) { }
                String path = line.split(" ")[1];
                String body = path.startsWith("/quote/") ? quote(Integer.parseInt(path.substring(7)) % 1000) : "branches: 12\n";
                out.write(("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes());
            }
        } catch (IOException e) {
            // went away
        }
    }

    private static String quote(int customer) {
        double best = 1;
        for (int offer = 0; offer < 24; offer++) {
            best = Math.min(best, new Mortgage(200_000 + 10 * customer, 900 + offer).rate());
        }
        return "%.4f %%\n".formatted(best * 100);
    }
}
