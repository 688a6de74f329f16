import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** A lexicon that needs 14 ms for a word, as it always did. */
public class Lexicon {
    public static void main(String[] args) throws IOException {
        String[] at = System.getenv("ADDR").split(":");
        ServerSocket door = new ServerSocket(Integer.parseInt(at[1]), 300, InetAddress.getByName(at[0]));
        while (true) {
            Socket reader = door.accept();
            Thread t = new Thread(() -> {
                try (reader) {
                    reader.setTcpNoDelay(true);
                    BufferedReader in = new BufferedReader(new InputStreamReader(reader.getInputStream()));
                    for (String word; (word = in.readLine()) != null; ) {
                        Thread.sleep(14);
                        reader.getOutputStream().write((new StringBuilder(word).reverse() + "\n").getBytes());
                    }
                } catch (IOException | InterruptedException e) {
                    // has gone
                }
            });
            t.start();
        }
    }
}
