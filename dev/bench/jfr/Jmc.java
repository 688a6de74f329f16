import java.io.File;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;

/** Loads a flight recording with Mission Control's parser, and says how many events it has, how long that took and in how much memory. */
public class Jmc {
    public static void main(String[] args) throws Exception {
        long begun = System.nanoTime();
        IItemCollection all = JfrLoaderToolkit.loadEvents(new File(args[0]));
        long events = 0;
        for (IItemIterable of : all) {
            events += of.getItemCount();
        }
        double seconds = (System.nanoTime() - begun) / 1e9;
        long peak = 0; // kB
        for (String line : Files.readAllLines(Paths.get("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                peak = Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        System.out.printf("{\"events\":%d,\"seconds\":%.3f,\"peak_kb\":%d}%n", events, seconds, peak);
    }
}
