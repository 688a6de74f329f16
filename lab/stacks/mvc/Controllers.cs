using System.IO;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Mvc;

namespace Notary
{
    [ApiController]
    [Route("deeds")]
    public sealed class DeedsController : ControllerBase
    {
        private readonly Register register;
        private readonly SigningClient signing;

        public DeedsController(Register register, SigningClient signing)
        {
            this.register = register;
            this.signing = signing;
        }

        [HttpGet("{id:int}")]
        public Deed Get(int id) => register.Find(id);

        [HttpPost("{id:int}/signature")]
        public async Task<IActionResult> Sign(int id)
        {
            var deed = register.Find(id);
            var signature = Program.Has("lock-over-call") ? signing.SignOneByOne(deed.Id) : await signing.SignAsync(deed.Id);
            return Content(signature, "application/json");
        }
    }

    [ApiController]
    [Route("districts")]
    public sealed class DistrictsController : ControllerBase
    {
        private readonly Register register;

        public DistrictsController(Register register) => this.register = register;

        // All deeds of a district as text. With the fault the whole text is in memory before it is sent.
        [HttpGet("{district:int}/deeds")]
        public async Task Get(int district)
        {
            Response.ContentType = "text/csv";
            if (Program.Has("whole-documents"))
            {
                using var memory = new MemoryStream();
                using (var text = new StreamWriter(memory))
                    foreach (var deed in register.InDistrict(district))
                        text.Write(Line(deed));
                var document = memory.ToArray();
                Response.ContentLength = document.Length;
                await Response.Body.WriteAsync(document, 0, document.Length);
                return;
            }
            await using var body = new StreamWriter(Response.Body, bufferSize: 16384);
            foreach (var deed in register.InDistrict(district))
                await body.WriteAsync(Line(deed));
        }

        private static string Line(Deed deed) => deed.Id + "," + deed.Owner + "," + deed.Parcel + "," + deed.Cents + "\n";
    }
}
