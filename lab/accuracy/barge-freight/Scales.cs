using System;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Threading.Tasks;

namespace BargeFreight
{
    // A line to the scales, which answer each message with a line.
    public sealed class Scales : IDisposable
    {
        readonly TcpClient client = new TcpClient { NoDelay = true };
        StreamReader answers;
        StreamWriter asks;

        public static async Task<Scales> Open(IPEndPoint at)
        {
            var scales = new Scales();
            await scales.client.ConnectAsync(at.Address, at.Port);
            scales.answers = new StreamReader(scales.client.GetStream());
            scales.asks = new StreamWriter(scales.client.GetStream()) { NewLine = "\n", AutoFlush = true };
            return scales;
        }

        public async Task<string> Ask(string what)
        {
            await asks.WriteLineAsync(what);
            return await answers.ReadLineAsync() ?? throw new IOException("the scales have hung up");
        }

        public void Dispose() => client.Dispose();
    }
}
