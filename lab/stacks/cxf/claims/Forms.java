package claims;

import jakarta.xml.bind.JAXBContext;
import jakarta.xml.bind.JAXBException;
import jakarta.xml.bind.Marshaller;
import java.io.StringWriter;

/** Writes the forms of claims as XML. */
class Forms {
    private JAXBContext context;

    String write(Claim claim) throws JAXBException {
        Marshaller marshaller = context().createMarshaller();
        marshaller.setProperty(Marshaller.JAXB_FORMATTED_OUTPUT, true);
        StringWriter text = new StringWriter();
        marshaller.marshal(fill(claim), text);
        return text.toString();
    }

    private static Form fill(Claim claim) {
        Form form = new Form();
        form.number = claim.id;
        Form.Contract contract = new Form.Contract();
        contract.contractId = claim.policy;
        contract.cents = claim.cents;
        form.contract.add(contract);
        for (Claim.Note note : claim.notes) {
            Form.Report report = new Form.Report();
            report.name = note.clerk;
            report.text = note.text;
            form.report.add(report);
        }
        return form;
    }

    /** A context is made once; with the fault, for each form. */
    private JAXBContext context() throws JAXBException {
        if (context == null || Main.fault("context-each")) {
            context = JAXBContext.newInstance(Form.class);
        }
        return context;
    }
}
