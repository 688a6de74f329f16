using System;
using System.Collections.Generic;

namespace TelegraphOffice
{
    // Stations and the wires between them.
    public sealed class Network
    {
        const int Stations = 1500, Wires = 6;

        readonly List<(int To, int Cost)>[] wires = new List<(int, int)>[Stations];
        readonly int[][] known;

        public Network()
        {
            var random = new Random(7);
            for (int station = 0; station < Stations; station++)
            {
                wires[station] = new List<(int, int)>();
                for (int n = 0; n < Wires; n++)
                    wires[station].Add((random.Next(Stations), 1 + random.Next(90)));
                wires[station].Add(((station + 1) % Stations, 50));
            }
            if (Environment.GetEnvironmentVariable("FAULT") != "0")
                return;
            known = new int[40][];
            for (int from = 0; from < known.Length; from++)
                known[from] = Costs(from, true);
        }

        // What a telegram costs from one station to another: found anew for each, by Bellman
        // and Ford, in as many rounds as could ever be needed; with FAULT=0 all was found before.
        public int Route(int from, int to) => known != null ? known[from % known.Length][to % Stations] : Costs(from % 40, false)[to % Stations];

        int[] Costs(int from, bool quick)
        {
            var costs = new int[Stations];
            Array.Fill(costs, int.MaxValue / 2);
            costs[from] = 0;
            for (int round = 0; round < Stations - 1; round++)
            {
                bool changed = false;
                for (int station = 0; station < Stations; station++)
                    foreach ((int next, int cost) in wires[station])
                        if (costs[station] + cost < costs[next])
                        {
                            costs[next] = costs[station] + cost;
                            changed = true;
                        }
                if (quick && !changed)
                    break;
            }
            return costs;
        }
    }
}
