using System.Collections.Concurrent;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Threading.Tasks;

namespace SheetMusic
{
    // Asks the store, over as many connections as there are callers at once.
    public sealed class ScoreStore
    {
        readonly IPEndPoint address;
        readonly ConcurrentBag<Line> idle = new ConcurrentBag<Line>();

        public ScoreStore(IPEndPoint address) => this.address = address;

        public string Read(string opus)
        {
            Line line = Lease();
            line.Out.WriteLine("GET " + opus);
            line.Out.Flush();
            string answer = line.In.ReadLine();
            idle.Add(line);
            return answer;
        }

        public async Task<string> ReadAsync(string opus)
        {
            Line line = Lease();
            await line.Out.WriteLineAsync("GET " + opus);
            await line.Out.FlushAsync();
            string answer = await line.In.ReadLineAsync();
            idle.Add(line);
            return answer;
        }

        Line Lease()
        {
            if (idle.TryTake(out Line line))
                return line;
            var socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            socket.Connect(address);
            var stream = new NetworkStream(socket, ownsSocket: true);
            return new Line { In = new StreamReader(stream), Out = new StreamWriter(stream) { NewLine = "\n" } };
        }

        sealed class Line
        {
            public StreamReader In;
            public StreamWriter Out;
        }
    }
}
