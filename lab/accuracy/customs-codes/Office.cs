using System.IO;
using System.Net.Sockets;

namespace CustomsCodes
{
    // The customs office, which speaks lines over TCP: one connection, one question after
    // the other.
    public sealed class Office
    {
        readonly object turn = new object();
        readonly string host;
        readonly int port;
        StreamReader answers;
        StreamWriter asks;

        public Office(string address)
        {
            string[] at = address.Split(':');
            (host, port) = (at[0], int.Parse(at[1]));
        }

        public string Ask(string line)
        {
            lock (turn)
            {
                if (asks == null)
                {
                    var client = new TcpClient(host, port) { NoDelay = true };
                    answers = new StreamReader(client.GetStream());
                    asks = new StreamWriter(client.GetStream()) { NewLine = "\n", AutoFlush = true };
                }
                asks.WriteLine(line);
                return answers.ReadLine() ?? throw new IOException("the office is closed");
            }
        }
    }
}
