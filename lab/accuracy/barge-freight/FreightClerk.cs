using System;
using System.Buffers;
using System.IO;
using System.IO.Pipelines;
using System.Net;
using System.Text;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Connections;

namespace BargeFreight
{
    // Speaks just enough HTTP for the skippers. Each connection has a line to the scales.
    public sealed class FreightClerk : ConnectionHandler
    {
        static readonly byte[] End = Encoding.ASCII.GetBytes("\r\n\r\n");

        public override async Task OnConnectedAsync(ConnectionContext skipper)
        {
            using var scales = await Scales.Open(IPEndPoint.Parse(Environment.GetEnvironmentVariable("ADDR_SCALES")));
            PipeReader input = skipper.Transport.Input;
            while (true)
            {
                ReadResult read;
                try
                {
                    read = await input.ReadAsync();
                }
                catch (IOException)
                {
                    return; // the skipper has hung up
                }
                ReadOnlySequence<byte> rest = read.Buffer;
                while (TakeRequest(ref rest, out string barge))
                {
                    string body = "barge " + barge + " carries " + await WayBill.Weigh(scales, barge) + " kg\n";
                    await skipper.Transport.Output.WriteAsync(Encoding.ASCII.GetBytes(
                        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + body.Length + "\r\n\r\n" + body));
                }
                input.AdvanceTo(rest.Start, rest.End);
                if (read.IsCompleted)
                    return;
            }
        }

        // Takes a whole request, of which only the last part of the path counts.
        static bool TakeRequest(ref ReadOnlySequence<byte> rest, out string barge)
        {
            barge = null;
            string text = Encoding.ASCII.GetString(rest.ToArray());
            int end = text.IndexOf("\r\n\r\n", StringComparison.Ordinal);
            if (end < 0)
                return false;
            string path = text.Split(' ')[1];
            barge = path.Substring(path.LastIndexOf('/') + 1);
            rest = rest.Slice(end + End.Length);
            return true;
        }
    }
}
