// A hollow box with four pins on the left and four conical holes on the right, all one piece. Gmsh 4.8 makes satellite.msh
// of it, lengths in metres:  gmsh -3 satellite.geo -o satellite.msh -format msh41 -save_all 0
SetFactory("OpenCASCADE");
DefineConstant[ depth = 0.10, width = 0.20, wall = 0.02, apart = 0.10, hole = 0.02, mouth = 0.034, tip = 0.006, edge = 0.022, curve = 10 ];
bulge = 1.1 * hole;    // ten percent wider than the hole
cuff = 1.1 * mouth;    // what stops the other body's shell
collar = 0.006;        // thickness of the cuff
neck = 1.05 * wall;    // from the cuff to the bulge: the shell and five percent
shaft = 0.9 * hole;
shoulder = 0.006;      // along the axis, from the shaft to the bulge's widest place
nose = 0.030;          // from there to the tip

Box(1) = {-depth/2, -width/2, -width/2, depth, width, width};
Box(2) = {-depth/2 + wall, -width/2 + wall, -width/2 + wall, depth - 2*wall, width - 2*wall, width - 2*wall};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
face = -depth/2;
pieces[] = {};
cones[] = {};
For i In {0:1}
  For j In {0:1}
    y = apart * (i - 0.5);
    z = apart * (j - 0.5);
    x = face;
    c = newv; Cylinder(c) = {x + 0.2*wall, y, z, -0.2*wall - collar, 0, 0, cuff}; x -= collar; pieces[] += {c};
    c = newv; Cylinder(c) = {x, y, z, -neck, 0, 0, shaft}; x -= neck; pieces[] += {c};
    c = newv; Cone(c) = {x, y, z, -shoulder, 0, 0, shaft, bulge}; x -= shoulder; pieces[] += {c};
    c = newv; Cone(c) = {x, y, z, -nose, 0, 0, bulge, tip}; pieces[] += {c};
    c = newv; Cone(c) = {depth/2 - wall, y, z, wall, 0, 0, hole, mouth}; cones[] += {c};
  EndFor
EndFor
shell = newv; BooleanDifference(shell) = { Volume{3}; Delete; }{ Volume{cones[]}; Delete; };
whole = newv; BooleanUnion(whole) = { Volume{shell}; Delete; }{ Volume{pieces[]}; Delete; };
Physical Volume("body") = {whole};
Mesh.MeshSizeMax = edge;
Mesh.MeshSizeMin = 0.004;
Mesh.MeshSizeFromPoints = 0;
Mesh.MeshSizeFromCurvature = curve;
Mesh.MeshSizeExtendFromBoundary = 1;
Mesh.Optimize = 1;
