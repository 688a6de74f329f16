import java.io.*;
import java.net.*;

/** The carriers' fares: 8 ms each, for whoever asks. */
public class Carriers {
    public static void main(String[] args) throws IOException {
        String[] addr = System.getenv("ADDR").split(":");
        ServerSocket door = new ServerSocket(Integer.parseInt(addr[1]), 200, InetAddress.getByName(addr[0]));
        while (true) {
            Socket s = door.accept();
            new Thread(() -> {
                try (s) {
                    s.setTcpNoDelay(true);
                    BufferedReader in = new BufferedReader(new InputStreamReader(s.getInputStream()));
                    OutputStream out = s.getOutputStream();
                    while (in.readLine() != null) {
                        Thread.sleep(8);
                        out.write("fare 19.90 EUR\n".getBytes());
                    }
                } catch (IOException | InterruptedException e) {
                    // gone
                }
            }).start();
        }
    }
}
