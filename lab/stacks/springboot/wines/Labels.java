package wines;

import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.zip.DeflaterOutputStream;
import org.springframework.stereotype.Service;

/** Draws labels for bottles, and packs their pixels. */
@Service
public class Labels {
    byte[] draw(Wine wine) {
        BufferedImage label = new BufferedImage(300, 200, BufferedImage.TYPE_INT_RGB);
        Graphics2D g = label.createGraphics();
        for (int ring = 0; ring < 60; ring++) {
            g.setColor(new Color((ring * 37 + wine.getId()) % 256, ring * 4, 255 - ring * 3));
            g.fillRoundRect(ring * 2, ring, 300 - ring * 4, 200 - ring * 2, 20, 20);
        }
        g.dispose();
        byte[] pixels = new byte[300 * 200 * 3];
        int at = 0;
        for (int pixel : label.getRGB(0, 0, 300, 200, null, 0, 300)) {
            pixels[at++] = (byte) (pixel >> 16);
            pixels[at++] = (byte) (pixel >> 8);
            pixels[at++] = (byte) pixel;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (DeflaterOutputStream packed = new DeflaterOutputStream(out)) {
            packed.write(pixels);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }
}
