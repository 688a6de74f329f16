package turbines;

import com.lowagie.text.Document;
import com.lowagie.text.Font;
import com.lowagie.text.PageSize;
import com.lowagie.text.Paragraph;
import com.lowagie.text.Phrase;
import com.lowagie.text.pdf.PdfPCell;
import com.lowagie.text.pdf.PdfPTable;
import com.lowagie.text.pdf.PdfWriter;
import java.io.ByteArrayOutputStream;
import java.util.List;

/** A work order for a crew: a page for each open order of a turbine, with its list of checks. */
record WorkOrder(int turbine, List<String> orders) {
    private static final int CHECKS = 40;

    byte[] print() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Document document = new Document(PageSize.A4);
        PdfWriter.getInstance(document, out);
        document.open();
        Font small = new Font(Font.HELVETICA, 8);
        for (String order : orders) {
            document.add(new Paragraph("Turbine " + turbine + ": " + order));
            PdfPTable table = new PdfPTable(new float[] {1, 6, 2, 2});
            table.setWidthPercentage(100);
            for (int check = 1; check <= CHECKS; check++) {
                for (String text : List.of(Integer.toString(check), "Check " + check + " of " + order, "Nm", "signed")) {
                    table.addCell(new PdfPCell(new Phrase(text, small)));
                }
            }
            document.add(table);
            document.newPage();
        }
        document.close();
        return out.toByteArray();
    }
}
