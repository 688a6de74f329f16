using System.IO;
using System.Net.Sockets;

namespace LanternSlides
{
    // The drawers' own service, which speaks lines over TCP and answers after some 30 ms.
    public sealed class Drawers
    {
        readonly object turn = new object();
        readonly StreamReader answers;
        readonly StreamWriter asks;

        public Drawers(string address)
        {
            string[] at = address.Split(':');
            var client = new TcpClient(at[0], int.Parse(at[1])) { NoDelay = true };
            answers = new StreamReader(client.GetStream());
            asks = new StreamWriter(client.GetStream()) { NewLine = "\n", AutoFlush = true };
        }

        public void Return(string what)
        {
            lock (turn)
            {
                asks.WriteLine("RETURN " + what);
                answers.ReadLine();
            }
        }
    }
}
